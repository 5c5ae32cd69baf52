// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline legendre {

/// Makes the stage on a GPU. Error  UsageError when this build has no CUDA.
std::unique_ptr<LegendreStage> make_cuda_legendre_stage(LegendreShape shape);

}  // namespace ringweave::detail::inline legendre
