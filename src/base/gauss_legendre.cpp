// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/gauss_legendre.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline base {
namespace {

using Real = long double;
constexpr Real pi = std::numbers::pi_v<Real>;

/// P_n(cos theta) and its derivative with respect to theta.
struct LegendreValue {
  Real p;
  Real dp;
};

/// Evaluates P_n by recurrence in the differences P_{k+1} - P_k, which keep the digits of 1 - z
/// near the pole. O(n).
LegendreValue legendre_near_pole(std::int64_t n, Real theta) {
  const Real half = std::sin(theta / 2);
  const Real one_minus_z = 2 * half * half;
  Real p = 1;
  Real difference = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const Real degree = static_cast<Real>(k);
    difference = (degree * difference - (2 * degree + 1) * one_minus_z * p) / (degree + 1);
    p += difference;
  }
  // dP/dtheta = -n (P_{n-1} - z P_n) / sin(theta)
  const Real dp = -static_cast<Real>(n) * (one_minus_z * p - difference) / std::sin(theta);
  return {p, dp};
}

/// Evaluates P_n by Stieltjes' series, whose terms fall like (k / (2 n sin(theta)))^k. O(1).
LegendreValue legendre_interior(std::int64_t n, Real theta, Real leading) {
  const Real degree = static_cast<Real>(n);
  const Real sin_theta = std::sin(theta);
  const Real cos_theta = std::cos(theta);
  const Real cot = cos_theta / sin_theta;
  const Real angle = (degree + Real{0.5}) * theta - pi / 4;
  Real c = std::cos(angle);
  Real s = std::sin(angle);
  Real factor = leading / std::sqrt(2 * sin_theta);
  LegendreValue value{0, 0};
  for (int k = 0; k < 60; ++k) {
    const Real half_order = static_cast<Real>(k) + Real{0.5};
    value.p += factor * c;
    value.dp -= factor * ((degree + half_order) * s + half_order * cot * c);
    const Real ratio = half_order * half_order /
                       ((static_cast<Real>(k) + 1) * (degree + half_order + 1) * 2 * sin_theta);
    factor *= ratio;
    if (factor < leading * std::numeric_limits<Real>::epsilon() * Real{0.01}) break;
    const Real turned = c * sin_theta + s * cos_theta;
    s = s * sin_theta - c * cos_theta;
    c = turned;
  }
  return value;
}

/// Returns (4 / pi) prod_{j <= n} j / (j + 1/2), the leading coefficient of Stieltjes' series.
Real stieltjes_leading(std::int64_t n) {
  Real product = 4 / pi;
  for (std::int64_t j = 1; j <= n; ++j) {
    product *= static_cast<Real>(j) / (static_cast<Real>(j) + Real{0.5});
  }
  return product;
}

}  // namespace

void mirror_nodes(std::vector<QuadratureNode>& nodes) {
  const std::int64_t n = ssize64(nodes);
  for (std::int64_t k = 0; k < n / 2; ++k) {
    const QuadratureNode& north = nodes[to_size(k)];
    nodes[to_size(n - 1 - k)] = {static_cast<double>(pi - static_cast<Real>(north.theta)),
                                 -north.cos_theta, north.sin_theta, north.weight};
  }
  if (n % 2 == 1) {
    QuadratureNode& middle = nodes[to_size(n / 2)];
    middle.theta = std::numbers::pi / 2;
    middle.cos_theta = 0;
    middle.sin_theta = 1;
  }
}

std::vector<QuadratureNode> gauss_legendre_nodes(std::int64_t n) {
  std::vector<QuadratureNode> nodes(to_size(n));
  const Real leading = stieltjes_leading(n);
  const Real nu = static_cast<Real>(n) + Real{0.5};
  constexpr Real near_pole = 40;  // beyond it the terms of Stieltjes' series reach 1e-19
  constexpr std::int64_t worth_threads = 4096;
#pragma omp parallel for schedule(dynamic, 16) if (n >= worth_threads)
  for (std::int64_t k = 0; k < (n + 1) / 2; ++k) {
    const Real first = (static_cast<Real>(k) + Real{0.75}) * pi / nu;
    Real theta = first + std::cos(first) / std::sin(first) / (8 * nu * nu);
    LegendreValue value{};
    for (int iteration = 0; iteration < 8; ++iteration) {
      value = nu * theta < near_pole ? legendre_near_pole(n, theta)
                                     : legendre_interior(n, theta, leading);
      const Real step = value.p / value.dp;
      theta -= step;
      if (std::abs(step) < std::numeric_limits<double>::epsilon() * Real{1e-3} * theta) break;
    }
    nodes[to_size(k)] = {static_cast<double>(theta), static_cast<double>(std::cos(theta)),
                         static_cast<double>(std::sin(theta)),
                         static_cast<double>(2 / (value.dp * value.dp))};
  }
  mirror_nodes(nodes);
  return nodes;
}

}  // namespace ringweave::detail::inline base
