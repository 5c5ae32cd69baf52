// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.hpp"
#include "fft/cuda/cuda_ring_fft.hpp"

namespace ringweave {

std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape) {
  throw UsageError(
      "the ring FFT was asked to run on CUDA, but this build has no CUDA backend; choose the host "
      "backend, or "
      "configure with -DRINGWEAVE_CUDA=ON where nvcc is found");
}

}  // namespace ringweave
