// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.hpp"
#include "fft/cuda/cuda_ring_fft.hpp"
#include "fft/device_ring_fft.hpp"

namespace ringweave {
namespace {

[[noreturn]] void lack() {
  throw UsageError(
      "the ring FFT was asked to run on CUDA, but this build has no CUDA backend; choose the host "
      "backend, or "
      "configure with -DRINGWEAVE_CUDA=ON where nvcc is found");
}

}  // namespace

std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape) { lack(); }

std::unique_ptr<DeviceRingFft> make_device_ring_fft(RingFftShape, const DeviceStream&) { lack(); }

std::int64_t device_ring_fft_bytes(const RingFftShape&) { return 0; }

}  // namespace ringweave
