// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <vector>

namespace ringweave::detail {

/// Returns sum_l (2l+1)/4pi K_l P_l(cos theta) with a mantissa of 64 bits.
inline long double series_reference(std::span<const double> k_l, double theta) {
  using Real = long double;
  const bool far = theta > std::numbers::pi / 2;
  const Real half = static_cast<Real>(theta) / 2;
  const Real chord = far ? std::cos(half) : std::sin(half);
  Real p = 1;
  Real difference = 0;
  Real sum = 0;
  for (std::size_t i = 0; i < k_l.size(); ++i) {
    const Real l = static_cast<Real>(i);
    const Real sign = far && i % 2 == 1 ? -1 : 1;
    sum += sign * (2 * l + 1) * static_cast<Real>(k_l[i]) * p;
    difference = (l * difference - (2 * l + 1) * 2 * chord * chord * p) / (l + 1);
    p += difference;
  }
  return sum / (4 * std::numbers::pi_v<Real>);
}

/// Returns sum_l (2l+1)/4pi K_l d^l_ss(theta) with a mantissa of 64 bits, by the recurrence of
/// Wigner's functions in l, written for their differences.
inline long double spin_series_reference(std::span<const double> k_l, int spin, double theta) {
  using Real = long double;
  const Real s = spin;
  const Real sine = std::sin(static_cast<Real>(theta) / 2);
  Real d = std::pow(std::cos(static_cast<Real>(theta) / 2), 2 * s);
  Real difference = 0;
  Real sum = 0;
  for (std::size_t i = static_cast<std::size_t>(spin); i < k_l.size(); ++i) {
    const Real l = static_cast<Real>(i);
    sum += (2 * l + 1) * static_cast<Real>(k_l[i]) * d;
    difference = (l + 1) * ((l * l - s * s) * difference - (2 * l + 1) * l * 2 * sine * sine * d) /
                 (l * ((l + 1) * (l + 1) - s * s));
    d += difference;
  }
  return sum / (4 * std::numbers::pi_v<Real>);
}

/// Returns the heat kernel of the sphere after t = sigma^2 / 2, which has K_l = exp(-l(l+1) sigma^2
/// / 2), from the integral over its images, without a sum over l (not near theta = pi, where the
/// integral is ill-conditioned):
/// sqrt(2) e^(t/4) / (4 pi t)^(3/2)
/// int_theta^pi sum_k (-1)^k (x + 2 pi k) e^(-(x + 2 pi k)^2 / 4t) / sqrt(cos theta - cos x) dx.
inline double heat_kernel(double sigma, double theta_double) {
  using Real = long double;
  constexpr Real pi = std::numbers::pi_v<Real>;
  const Real theta = theta_double;
  const Real t = static_cast<Real>(sigma) * static_cast<Real>(sigma) / 2;
  // In y = sqrt(x^2 - theta^2) the integrand has no root at its end.
  const auto integrand = [&](Real y) {
    const Real x = std::sqrt(theta * theta + y * y);
    Real images = 0;
    for (int k = -3; k <= 3; ++k) {
      const Real at = x + 2 * pi * static_cast<Real>(k);
      images += (k % 2 == 0 ? 1 : -1) * at * std::exp(-at * at / (4 * t));
    }
    const Real difference = y * y / (x + theta);
    const Real root = std::sqrt(2 * std::sin((x + theta) / 2) * std::sin(difference / 2));
    return y == 0 ? Real{0} : images / x * y / root;
  };
  const Real end = std::min(std::sqrt(pi * pi - theta * theta), 14 * static_cast<Real>(sigma));
  const Real integral = boost::math::quadrature::gauss_kronrod<Real, 61>::integrate(
      integrand, Real{0}, end, 4, Real{1e-16});
  const Real scale = 4 * pi * t;
  return static_cast<double>(std::sqrt(Real{2}) * std::exp(t / 4) / (scale * std::sqrt(scale)) *
                             integral);
}

/// Returns int_x^1 P_l P_n dz, l != n, x = cos(theta): (1 - x^2) (P_n P_l' - P_l P_n') / ((l - n)(l
/// + n + 1)).
inline double product_of_two(unsigned l, unsigned n, double theta) {
  using Real = long double;
  const Real x = std::cos(static_cast<Real>(theta));
  // (1 - x^2) P_l' = l (P_{l-1} - x P_l)
  const auto derivative = [&](unsigned k) {
    return k == 0 ? Real{0}
                  : static_cast<Real>(k) * (std::legendre(k - 1, x) - x * std::legendre(k, x));
  };
  const Real a = static_cast<Real>(l);
  const Real b = static_cast<Real>(n);
  return static_cast<double>(
      (std::legendre(n, x) * derivative(l) - std::legendre(l, x) * derivative(n)) /
      ((a - b) * (a + b + 1)));
}

inline std::vector<double> gaussian_k_l(double sigma, int lmax) {
  std::vector<double> k_l;
  for (int l = 0; l <= lmax; ++l) k_l.push_back(std::exp(-l * (l + 1.0) * sigma * sigma / 2));
  return k_l;
}

inline double sigma_of(double fwhm) { return fwhm / std::sqrt(8 * std::log(2.0)); }
inline double degrees(double angle) { return angle * std::numbers::pi / 180; }
inline double arcmin(double angle) { return degrees(angle / 60); }

/// Angles from 0 to end, every fourth much nearer to 0.
inline std::vector<double> random_angles(double end, int n) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, end);
  std::vector<double> angles{0, end};
  while (static_cast<int>(angles.size()) < n)
    angles.push_back(uniform(random) * (angles.size() % 4 == 0 ? 0.01 : 1));
  return angles;
}

}  // namespace ringweave::detail
