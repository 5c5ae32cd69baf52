// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/ring_fft.hpp"

#include <fftw3.h>

#include <utility>

#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline fft {

std::unique_ptr<RingFft> make_ring_fft(RingFftShape shape, Backend backend) {
  switch (backend) {
    case Backend::host: return make_host_ring_fft(std::move(shape));
    case Backend::cuda: return make_cuda_ring_fft(std::move(shape));
  }
  throw InternalError("make_ring_fft: unknown backend");
}

std::string fft_library_version() { return fftw_version; }

}  // namespace ringweave::detail::inline fft
