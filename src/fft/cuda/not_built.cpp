// SPDX-License-Identifier: GPL-3.0-or-later
#include <string>

#include "fft/device_plane_filter.hpp"
#include "fft/device_ring_fft.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {
namespace {

[[noreturn]] void lack(const std::string& what) {
  throw UsageError(what +
                   " was asked to run on a GPU, but this build has no CUDA: configure with nvcc in "
                   "reach and -DRINGWEAVE_CUDA=ON, or choose the host backend");
}

}  // namespace

std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape) { lack("the ring FFT"); }

std::vector<std::unique_ptr<DeviceRingFft>> make_device_ring_ffts(
    std::span<const RingFftShape* const>, const DeviceStream&, std::int64_t) {
  lack("the ring FFT");
}

std::vector<std::unique_ptr<DevicePlaneFilter>> make_device_plane_filters(
    std::span<const PlaneFilterAxes>, std::int64_t, const DeviceStream&) {
  lack("a filter of planes");
}

}  // namespace ringweave::detail::inline fft
