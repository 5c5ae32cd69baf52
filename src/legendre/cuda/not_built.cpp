// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/device_legendre_stage.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline legendre {
namespace {

[[noreturn]] void lack() {
  throw UsageError(
      "the Legendre stage was asked to run on a GPU, but this build has no CUDA: configure with "
      "nvcc in reach and "
      "-DRINGWEAVE_CUDA=ON, or choose the host backend");
}

}  // namespace

std::unique_ptr<LegendreStage> make_cuda_legendre_stage(LegendreShape) { lack(); }

std::unique_ptr<DeviceLegendreStage> make_device_legendre_stage(LegendreShape, const DeviceStream&,
                                                                BatchedSums) {
  lack();
}

}  // namespace ringweave::detail::inline legendre
