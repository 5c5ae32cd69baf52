// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>

#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline sphere {

/// Fits polynomial pieces through values at Chebyshev points.
class PieceFit {
 public:
  static constexpr std::size_t n_points = KernelTable::degree + 1;
  using Values = std::array<double, n_points>;

  PieceFit();
  /// Points in (-1, 1) at which a piece needs values.
  const Values& points() const { return points_; }
  /// Computes the coefficients of t^k for |t| <= half_width.
  KernelTable::Piece piece(const Values& values, double half_width) const;

 private:
  Values points_{};
  /// [k][point]; long double, because the entries are large and cancel.
  std::array<std::array<long double, n_points>, n_points> monomial_{};
};

/// Returns the largest chord squared inside a kernel cut at this angle, see KernelTable.
double chord_squared_at_cut(double theta_cut);

}  // namespace ringweave::detail::inline sphere
