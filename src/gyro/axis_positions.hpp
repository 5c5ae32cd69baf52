// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// Returns the positions after which a periodic or mirrored axis of n nodes repeats.
RINGWEAVE_HOST_DEVICE constexpr std::int64_t period_of(PlaneBoundary boundary, std::int64_t n) {
  return boundary == PlaneBoundary::mirror ? 2 * (n - 1) : n;
}

/// Returns the position in the first period, 0 .. period - 1, that has the same value.
RINGWEAVE_HOST_DEVICE constexpr std::int64_t within_period(std::int64_t position,
                                                           std::int64_t period) {
  const std::int64_t rest = position % period;
  return rest < 0 ? rest + period : rest;
}

/// Returns the node whose value stands at position `i` of an axis of n nodes that continues beyond
/// its ends; -1 for none.
RINGWEAVE_HOST_DEVICE constexpr std::int64_t node_at(PlaneBoundary boundary, std::int64_t n,
                                                     std::int64_t i) {
  if (i >= 0 && i < n) return i;
  if (boundary == PlaneBoundary::zero) return -1;
  const std::int64_t period = period_of(boundary, n);
  const std::int64_t within = within_period(i, period);
  return within < n ? within : period - within;
}

/// Tells whether the axis is turned around at position `i` and the next ones.
RINGWEAVE_HOST_DEVICE constexpr bool is_mirrored(PlaneBoundary boundary, std::int64_t n,
                                                 std::int64_t i) {
  return boundary == PlaneBoundary::mirror && within_period(i, period_of(boundary, n)) >= n;
}

}  // namespace ringweave::detail::inline gyro
