// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/cap_polynomials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline sphere {
namespace {

using std::numbers::pi;

double chord_squared_of(double theta_cut) {
  const double sine = std::sin(theta_cut / 2);
  return 4 * sine * sine;
}

/// Returns how many polynomials in theta^2 represent P_l on a cap to rounding; there P_l is close
/// to a Bessel function of l theta.
double polynomials_of_degree(double l, double theta_cut) {
  const double phase = l * theta_cut;
  return phase / 2 + 3 * std::cbrt(phase) + 8;
}

}  // namespace

CapPolynomials::CapPolynomials(double theta_cut, int size)
    : theta_cut_(theta_cut), chord_squared_cut_(chord_squared_of(theta_cut)) {
  if (!(theta_cut > 0 && theta_cut <= most_theta_cut)) {
    throw UsageError(fmt::format("polynomials on a cap of {} rad; expected more than 0, at most {}",
                                 theta_cut, most_theta_cut));
  }
  if (size < 1) throw UsageError(fmt::format("{} polynomials on a cap; expected 1 or more", size));
  // Jacobi polynomials in s = 1 - 2 u of the weight (1 + s)^b.
  constexpr double b = 2.0 * edge_order;
  for (int i = 0; i < size; ++i) {
    const double k = i;
    middle_.push_back(b * b / ((2 * k + b) * (2 * k + b + 2)));
    const double n = k + 1;
    const double sum = 2 * n + b;
    below_.push_back(2 * n * (n + b) / (sum * std::sqrt((sum - 1) * (sum + 1))));
    inverse_.push_back(1 / below_.back());
  }
  // The solid angle element is pi chord_squared_cut du.
  first_ = std::sqrt((b + 1) / (pi * chord_squared_cut_));
}

template <class Take>
void CapPolynomials::each(double u, std::size_t n, Take&& take) const {
  const double s = 1 - 2 * u;
  const double inwards = 1 - u;
  double before = 0;
  double here = first_ * inwards * inwards;
  for (std::size_t k = 0; k < n; ++k) {
    take(k, here);
    const double under = k > 0 ? below_[k - 1] : 0;
    const double next = ((s - middle_[k]) * here - under * before) * inverse_[k];
    before = here;
    here = next;
  }
}

void CapPolynomials::evaluate(double u, std::span<double> value) const {
  each(u, value.size(), [&](std::size_t k, double p) { value[k] = p; });
}

double CapPolynomials::sum(std::span<const double> coefficient, double u) const {
  double result = 0;
  each(u, coefficient.size(), [&](std::size_t k, double p) { result += coefficient[k] * p; });
  return result;
}

int CapPolynomials::size_for(double theta_cut, int lmax) {
  return static_cast<int>(std::ceil(polynomials_of_degree(lmax, theta_cut)));
}

CapNodes cap_nodes(double theta_cut, int size, double lmax) {
  const double own = size + CapPolynomials::edge_order;
  const double other = std::max(own, polynomials_of_degree(lmax, theta_cut));
  const auto n = static_cast<std::int64_t>(std::ceil((own + other) / 2)) + 1;
  const double chord_squared_cut = chord_squared_of(theta_cut);
  CapNodes nodes;
  for (const QuadratureNode& node : gauss_legendre_nodes(n)) {
    const double sine = std::sin(node.theta / 2);
    nodes.u.push_back(sine * sine);
    nodes.chord_squared.push_back(chord_squared_cut * nodes.u.back());
    nodes.weight.push_back(pi / 2 * chord_squared_cut * node.weight);
  }
  return nodes;
}

}  // namespace ringweave::detail::inline sphere
