// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>

#include "sphere/kernel/kernel_table.hpp"

namespace ringweave {

/// Polynomial pieces through values at Chebyshev's points.
class PieceFit {
 public:
  static constexpr std::size_t n_points = KernelTable::degree + 1;
  using Values = std::array<double, n_points>;

  PieceFit();
  /// In (-1, 1): where in a piece the values are wanted.
  const Values& points() const { return points_; }
  /// Coefficients of t^k for |t| <= half_width.
  KernelTable::Piece piece(const Values& values, double half_width) const;

 private:
  Values points_{};
  /// [k][point]; its entries are large and cancel, which costs digits in double.
  std::array<std::array<long double, n_points>, n_points> monomial_{};
};

/// The largest chord squared that belongs to a kernel cut at an angle, see KernelTable.
double chord_squared_at_cut(double theta_cut);

}  // namespace ringweave
