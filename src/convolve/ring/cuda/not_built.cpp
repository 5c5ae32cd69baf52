// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution_stage.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline convolve {

std::unique_ptr<RingConvolutionStage> make_cuda_ring_convolution(const Communicator&,
                                                                 const RingConvolutionPlan&) {
  throw UsageError(
      "the ring convolution was asked to run on a GPU, but this build has no CUDA: configure with "
      "nvcc in reach and -DRINGWEAVE_CUDA=ON, or choose the host backend");
}

}  // namespace ringweave::detail::inline convolve
