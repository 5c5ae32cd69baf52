// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked_cast.hpp"
#include "sphere/kernel/kernel_fit.hpp"
#include "sphere/kernel/kernel_shape.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline sphere {

CapShape::CapShape(double theta_cut, std::vector<double> coefficient, int spin)
    : polynomials_(theta_cut, checked_cast<int>(ssize64(coefficient), "polynomials of a kernel")),
      coefficient_(std::move(coefficient)),
      spin_(spin) {
  bound_ = std::abs(value(0));
  for (const double u : cap_nodes(theta_cut, polynomials_.size(), 0).u)
    bound_ = std::max(bound_, std::abs(value(u)));
}

ChordNodes CapShape::nodes(double theta_cut, double polynomial_degree) const {
  const double angle = std::min(theta_cut, end());
  // The same polynomials vary less on a part of the cap, so nodes for their number suffice.
  const CapNodes cap = cap_nodes(angle, polynomials_.size(), polynomial_degree);
  ChordNodes nodes;
  nodes.chord_squared = cap.chord_squared;
  nodes.weight = cap.weight;
  for (const double chord_squared : cap.chord_squared)
    nodes.theta.push_back(angle_of(Half::near, std::sqrt(chord_squared)));
  nodes.n_near = cap.u.size();
  return nodes;
}

std::vector<double> CapShape::values(const ChordNodes& nodes) const {
  std::vector<double> result;
  for (const double chord_squared : nodes.chord_squared)
    result.push_back(value(chord_squared / polynomials_.chord_squared_cut()));
  return result;
}

std::vector<double> CapShape::whole_multipoles(int lmax) const {
  return cut_multipoles(end(), lmax);
}

KernelTable CapShape::tabulate(double theta_cut) const {
  KernelTable table;
  table.chord_squared_cut = chord_squared_at_cut(theta_cut);
  const double chord_cut = std::sqrt(table.chord_squared_cut);
  const double edge = polynomials_.chord_squared_cut();
  const PieceFit fit;
  const auto at = [&](double chord) {
    const double chord_squared = chord * chord;
    // Over cos(theta / 2)^2s, of which a cap holds no zero.
    return value(chord_squared / edge) / std::pow(1 - chord_squared / 4, spin_);
  };
  // The coefficients bound the derivatives of their sum poorly, so pieces are halved until they
  // follow it or until halving gains nothing because only rounding is left.
  constexpr double tolerance = 5e-15;
  constexpr double least_gain = 8;
  double before = std::numeric_limits<double>::infinity();
  const std::int64_t size = polynomials_.size();
  for (std::int64_t n = 2 * size;; n *= 2) {
    table.scale = static_cast<double>(n) / chord_cut;
    table.pieces.clear();
    double worst = 0;
    // One extra piece, which rounding may select.
    for (std::int64_t cell = 0; cell <= n; ++cell) {
      const auto chord = [&](double s) {
        return (static_cast<double>(cell) + (1 + s) / 2) / table.scale;
      };
      PieceFit::Values values{};
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(chord(fit.points()[i]));
      table.pieces.push_back(fit.piece(values, 0.5));
      if (cell == n) break;
      for (const double s : {-0.999, -0.55, 0.0, 0.55, 0.999}) {
        const double c = chord(s);
        worst = std::max(worst, std::abs(table.evaluate(c * c) - at(c)));
      }
    }
    if (worst <= tolerance * bound_ || worst > before / least_gain) return table;
    before = worst;
  }
}

}  // namespace ringweave::detail::inline sphere
