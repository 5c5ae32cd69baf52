// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline legendre {

/// Estimated work of both routes of the host's sums, in multiply-adds.
struct ThetaWork {
  double direct = 0;     ///< on the rings of the grid
  double resampled = 0;  ///< on lmax + 1 equidistant rings, interpolation included
};

/// Estimates the work for some orders of scalar maps with this many components. O(orders).
ThetaWork theta_work(const RingGrid& grid, const ModeLimits& limits, std::span<const int> orders,
                     std::int64_t n_components);

/// Returns whether the Legendre functions are summed on fewer, equidistant rings and resampled: for
/// fine rows, as requested, or if the estimated work is less.
bool resamples_theta(const LegendreShape& shape);

}  // namespace ringweave::detail::inline legendre
