// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/chord_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline sphere {
namespace {

using std::numbers::pi;
using Real = long double;

}  // namespace

double chord_of(Half half, double theta) {
  return 2 * std::sin((half == Half::near ? theta : pi - theta) / 2);
}

double angle_of(Half half, double chord) {
  const double angle = 2 * std::asin(std::min(chord / 2, 1.0));
  return half == Half::near ? angle : pi - angle;
}

double ChordNodes::cosine_power(std::size_t node, int power) const {
  const double square = chord_squared[node] / 4;
  return std::pow(node < n_near ? 1 - square : square, power / 2);
}

double ChordNodes::sine_power(std::size_t node, int power) const {
  const double square = chord_squared[node] / 4;
  return std::pow(node < n_near ? square : 1 - square, power / 2);
}

std::int64_t ChordQuadrature::count(double low, double high) const {
  const double half_width = (high - low) / 2;
  // The change of degree_ theta over half the panel, fastest at its far end. Gauss-Legendre with n
  // nodes leaves an error like a Bessel function of order 2 n at this argument.
  const double phase = degree_ * half_width / std::sqrt(1 - high * high / 4);
  double n = std::ceil(phase / 2 + 6 * std::cbrt(phase) + 2);
  if (integrand_ == Integrand::polynomial) {
    // The degree doubles in the chord; the area element adds one.
    n = std::min(n + 2, std::ceil(degree_) + 1);
  } else {
    // theta has a branch point at a chord of 2: errors fall like rho^(-2 n).
    const double ratio = (2 - (low + high) / 2) / half_width;
    const double log_rho = std::log(ratio + std::sqrt(ratio * ratio - 1));
    n += std::ceil(19 / log_rho) + 1;
  }
  return static_cast<std::int64_t>(n);
}

void ChordQuadrature::append(Half half, double theta_low, double theta_high, ChordNodes& nodes) {
  const bool inwards = half == Half::far;  // this chord decreases away from the centre
  const Real low = chord_of(half, inwards ? theta_high : theta_low);
  const Real high = chord_of(half, inwards ? theta_low : theta_high);
  const std::int64_t n = count(static_cast<double>(low), static_cast<double>(high));
  std::vector<QuadratureNode>& rule = rules_[n];
  if (rule.empty()) rule = gauss_legendre_nodes(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const QuadratureNode& node = rule[to_size(inwards ? n - 1 - i : i)];
    // Rounding moves a node, and the kernel may be steep: compute the fraction (1 - z) / 2 of the
    // panel by the formula with more digits, and round the square once.
    const Real sine = std::sin(static_cast<Real>(node.theta) / 2);
    const Real fraction =
        node.cos_theta > 0.5 ? sine * sine : (1 - static_cast<Real>(node.cos_theta)) / 2;
    const Real chord = low + (high - low) * fraction;
    nodes.theta.push_back(angle_of(half, static_cast<double>(chord)));
    nodes.chord_squared.push_back(static_cast<double>(chord * chord));
    nodes.weight.push_back(static_cast<double>(pi * chord * (high - low)) * node.weight);
  }
  if (half == Half::near) nodes.n_near += to_size(n);
}

ChordNodes ChordQuadrature::nodes(std::span<const double> edges, double theta_cut) {
  ChordNodes result;
  for (std::size_t panel = 0; panel + 1 < edges.size() && edges[panel] < theta_cut; ++panel) {
    const double low = edges[panel];
    const double high = std::min(edges[panel + 1], theta_cut);
    const double between = std::clamp(pi / 2, low, high);
    if (low < between) append(Half::near, low, between, result);
    if (between < high) append(Half::far, between, high, result);
  }
  return result;
}

}  // namespace ringweave::detail::inline sphere
