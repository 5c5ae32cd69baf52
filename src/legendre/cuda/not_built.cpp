// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.hpp"
#include "legendre/cuda/cuda_legendre_stage.hpp"

namespace ringweave {

std::unique_ptr<LegendreStage> make_cuda_legendre_stage(LegendreShape) {
  throw UsageError(
      "the Legendre stage was asked to run on a GPU, but this build has no CUDA: configure with "
      "nvcc in reach and "
      "-DRINGWEAVE_CUDA=ON, or choose the host backend");
}

}  // namespace ringweave
