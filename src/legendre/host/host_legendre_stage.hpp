// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline legendre {

/// Makes the stage on the CPU: SIMD over ring pairs, OpenMP over orders. Allocates tables and the
/// scratch of omp_get_max_threads() threads; later calls use at most that many threads. Error
/// UsageError when rows, orders and grid of the shape are inconsistent.
std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape);

}  // namespace ringweave::detail::inline legendre
