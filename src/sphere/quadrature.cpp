// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/quadrature.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <span>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"

namespace ringweave::detail::inline sphere {
namespace {

using Real = long double;

/// Returns cos(pi i / n) for i = 0..2 n - 1, computed only for i <= n / 2 and mirrored, so that
/// symmetric values are equal to the last digit.
std::vector<Real> cosine_table(std::int64_t n) {
  std::vector<Real> table(to_size(2 * n));
  for (std::int64_t i = 0; 2 * i <= n; ++i) {
    const Real value =
        2 * i == n
            ? Real{0}
            : std::cos(std::numbers::pi_v<Real> * static_cast<Real>(i) / static_cast<Real>(n));
    table[to_size(i)] = value;
    table[to_size(n - i)] = -value;
    table[to_size(n + i)] = -value;
    if (i > 0) table[to_size(2 * n - i)] = value;
  }
  return table;
}

/// Returns the interpolatory weight (2 / n) (1 - sum_j b_j cos(j std::numbers::pi_v<Real> s / n) /
/// (4 j^2 - 1)), j = 1..n/2, b_j = 2 but 1 at j = n / 2: the integral of the cosine interpolant
/// with a node at theta = std::numbers::pi_v<Real> s / (2 n).
Real cosine_weight(std::span<const Real> cosines, std::span<const Real> coefficients,
                   std::int64_t s) {
  const std::int64_t period = ssize64(cosines);
  Real sum = 0;
  // Add small terms first to keep the last digits.
  std::int64_t at = s * ssize64(coefficients) % period;
  for (std::int64_t j = ssize64(coefficients); j >= 1; --j) {
    sum += coefficients[to_size(j - 1)] * cosines[to_size(at)];
    at -= s;
    if (at < 0) at += period;
  }
  return 4 / static_cast<Real>(period) * (1 - sum);
}

/// Returns the same as cosine_weight() for n intervals without the sum: over all j it is 1 - pi / 2
/// sin(theta), and the terms with j > n / 2 that this has in addition are summed by parts, again
/// and again. The terms of that series fall like (k / (n sin(theta)))^k.
Real cosine_weight_by_parts(std::int64_t n, Real theta) {
  const Real sine = std::sin(theta);
  const std::int64_t first = n / 2 + 1;
  const Real begin = static_cast<Real>(2 * first - 1);
  // sum_{j >= J} f(j) z^j, z = exp(2 i theta), has the terms z^J / (1 - z) (z / (1 - z))^k D^k f(J)
  // with the forward differences D^k of f(j) = 2 / (4 j^2 - 1).
  const std::complex<Real> step =
      std::complex<Real>{0, 1} * std::polar(Real{1}, theta) / (2 * sine);
  std::complex<Real> term = std::complex<Real>{0, 1} * std::polar(Real{1}, begin * theta) *
                            (1 / (begin * (begin + 2) * sine));
  Real tail = 0;
  for (int k = 1; k < 60; ++k) {
    tail += term.real();
    term *= step * (-static_cast<Real>(k + 1) / (static_cast<Real>(first + k) + Real{0.5}));
    if (std::abs(term) < std::numeric_limits<Real>::epsilon() * sine) break;
  }
  const Real degree = static_cast<Real>(n);
  if (n % 2 == 0) tail += std::cos(degree * theta) / (degree * degree - 1);
  return 2 / degree * (std::numbers::pi_v<Real> / 2 * sine + tail);
}

/// Computes nodes theta = std::numbers::pi_v<Real> (2 k + offset) / (2 intervals), k = 0..n-1, with
/// the weights of cosine_weight.
std::vector<QuadratureNode> equidistant_nodes(std::int64_t n, std::int64_t intervals,
                                              std::int64_t offset) {
  const std::vector<Real> cosines = cosine_table(intervals);
  std::vector<Real> coefficients(to_size(intervals / 2));
  for (std::int64_t j = 1; j <= intervals / 2; ++j) {
    const Real b = 2 * j == intervals ? 1 : 2;
    coefficients[to_size(j - 1)] = b / (4 * static_cast<Real>(j) * static_cast<Real>(j) - 1);
  }
  std::vector<QuadratureNode> nodes(to_size(n));
  const std::int64_t half = (n + 1) / 2;
  constexpr Real near_pole = 45;  // beyond it the terms by parts fall to 1e-21 of the weight
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < half; ++k) {
    const std::int64_t s = 2 * k + offset;
    const Real theta =
        std::numbers::pi_v<Real> * static_cast<Real>(s) / static_cast<Real>(2 * intervals);
    const Real sine = std::sin(theta);
    const Real weight = static_cast<Real>(intervals) * sine < near_pole
                            ? cosine_weight(cosines, coefficients, s)
                            : cosine_weight_by_parts(intervals, theta);
    nodes[to_size(k)] = {static_cast<double>(theta), static_cast<double>(std::cos(theta)),
                         static_cast<double>(sine), static_cast<double>(weight)};
  }
  return nodes;
}

}  // namespace

std::vector<QuadratureNode> clenshaw_curtis_nodes(std::int64_t n) {
  std::vector<QuadratureNode> nodes = equidistant_nodes(n, n - 1, 0);
  nodes.front().weight /= 2;
  mirror_nodes(nodes);
  return nodes;
}

std::vector<QuadratureNode> fejer_nodes(std::int64_t n) {
  std::vector<QuadratureNode> nodes = equidistant_nodes(n, n, 1);
  mirror_nodes(nodes);
  return nodes;
}

}  // namespace ringweave::detail::inline sphere
