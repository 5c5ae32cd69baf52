// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "legendre/legendre_stage.hpp"

namespace ringweave {

/// The stage on the processor: SIMD over ring pairs, OpenMP over orders. Tables and per-thread
/// scratch for omp_get_max_threads() threads are made here; later calls use at most that many.
/// Error  UsageError when rows, orders and grid of the shape do not belong together.
std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape);

}  // namespace ringweave
