// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>

#include "ringweave/grid.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail {

/// Counts the significant (l, m, ring pair): kept by the pruning, and not below the turning point
/// of lambda_lm.
inline double significant_terms(const RingGrid& grid, const ModeLimits& limits) {
  const int lmax = limits.lmax();
  const double offset = std::max(100.0, 0.01 * lmax);
  double count = 0;
  for (const RingPair& pair : grid.pairs()) {
    const int m_limit = limits.m_limit(RingId{pair.north});
    for (int m = 0; m <= m_limit; ++m) {
      const double first = std::max<double>(m, (m - offset) / pair.sin_theta);
      count += std::max(0.0, lmax - first + 1);
    }
  }
  return count;
}

/// Useful operations of a field of some spin per term, in one direction.
inline double flop_of_term(int spin) { return spin == 0 ? 6 : 24; }

}  // namespace ringweave::detail
