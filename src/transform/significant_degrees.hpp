// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/grid.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline transform {

/// Degrees at which orders count: an order has those above max(m, (m - margin) / sin(theta)) on
/// the rings that keep it.
class SignificantDegrees {
 public:
  /// O(ring pairs); refers to the limits.
  SignificantDegrees(const RingGrid& grid, const ModeLimits& limits);

  /// Returns the degrees of an order, summed over ring pairs. O(log(ring pairs)).
  double of(int m) const;

 private:
  /// Pairs from a pole to the equator: everything ascends.
  struct Side {
    std::vector<std::int64_t> rings{};  ///< counted from this side's pole on; any first number
    std::vector<double> sines{};
    std::vector<double> inverse_sums{0.0};  ///< of 1 / sine over the pairs before
    void add(std::int64_t ring, double sine);
  };
  double of_side(const Side& side, RingRange kept, int m) const;

  const ModeLimits& limits_;
  double margin_;
  Side north_{};        ///< pairs with a northern ring, which counts
  Side south_alone_{};  ///< southern rings without a northern one, their numbers negative
};

}  // namespace ringweave::detail::inline transform
