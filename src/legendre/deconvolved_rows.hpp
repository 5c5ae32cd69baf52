// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail::inline legendre {

/// Asks for ring modes that are deconvolved, for an interpolation in theta and phi that follows:
/// sum over k of c_k theta_factors[|k|] order_factors[m] exp(i k theta), with the coefficients c_k,
/// |k| <= lmax, of Delta_m(theta). The rings are rows of the whole sphere at theta = pi (row + 1/2)
/// / n_rows, those of RingGrid::fejer(n_rows), all of them or a subset.
struct DeconvolvedRows {
  std::int64_t n_rows = 0;  ///< a multiple of 4, more than lmax, with prime factors up to 7
  std::vector<double> theta_factors;  ///< [k = 0..lmax]
  std::vector<double> order_factors;  ///< [m = 0..mmax]

  /// Throws a UsageError unless the members fit together and to a transform.
  void check(int lmax, int mmax) const;
  /// Returns the row of every ring of a grid. Error  UsageError when a ring is not at a row.
  std::vector<std::int64_t> rows_of(const RingGrid& grid) const;
};

}  // namespace ringweave::detail::inline legendre
