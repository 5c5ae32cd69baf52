// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/kernel_fit.hpp"

#include <cmath>
#include <numbers>

#include "sphere/kernel/chord_nodes.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline sphere {
namespace {

using Real = long double;

}  // namespace

PieceFit::PieceFit() {
  constexpr Real n = n_points;
  // powers[m][k]: T_m = sum_k powers[m][k] s^k
  std::array<std::array<Real, n_points>, n_points> powers{};
  powers[0][0] = 1;
  powers[1][1] = 1;
  for (std::size_t m = 2; m < n_points; ++m) {
    for (std::size_t k = 0; k < n_points; ++k)
      powers[m][k] = (k > 0 ? 2 * powers[m - 1][k - 1] : 0) - powers[m - 2][k];
  }
  for (std::size_t point = 0; point < n_points; ++point) {
    const Real angle =
        std::numbers::pi_v<Real> * (static_cast<Real>(point) + static_cast<Real>(0.5)) / n;
    points_[point] = static_cast<double>(std::cos(angle));
    for (std::size_t k = 0; k < n_points; ++k) {
      Real sum = 0;
      for (std::size_t m = 0; m < n_points; ++m)
        sum += (m == 0 ? 1 : 2) / n * std::cos(static_cast<Real>(m) * angle) * powers[m][k];
      monomial_[k][point] = sum;
    }
  }
}

KernelTable::Piece PieceFit::piece(const Values& values, double half_width) const {
  KernelTable::Piece result;
  double unit = 1;
  for (std::size_t k = 0; k < n_points; ++k) {
    long double sum = 0;
    for (std::size_t point = 0; point < n_points; ++point)
      sum += monomial_[k][point] * static_cast<long double>(values[point]);
    result.coefficient[k] = static_cast<double>(sum) / unit;
    unit *= half_width;
  }
  return result;
}

double chord_squared_at_cut(double theta_cut) {
  const double chord = chord_of(Half::near, theta_cut);
  return chord * chord + 1e-13 * chord;
}

}  // namespace ringweave::detail::inline sphere
