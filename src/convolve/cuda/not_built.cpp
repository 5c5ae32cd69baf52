// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.hpp"
#include "convolve/cuda/cuda_ring_convolver.hpp"

namespace ringweave {

std::unique_ptr<RingConvolver> make_cuda_ring_convolver(const Communicator&,
                                                        const RingConvolutionPlan&) {
  throw UsageError(
      "the ring convolution was asked to run on CUDA, but this build has no CUDA backend; choose "
      "the host backend, or configure with -DRINGWEAVE_CUDA=ON where nvcc is found");
}

}  // namespace ringweave
