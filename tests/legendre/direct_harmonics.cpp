// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/direct_harmonics.hpp"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdlib>

namespace ringweave::detail {
namespace {

using Quad = boost::multiprecision::cpp_bin_float_quad;

struct Position {
  Quad z;
  Quad half_sine;    // sin(theta / 2)
  Quad half_cosine;  // cos(theta / 2)
};

Position position_of(const Ring& ring) {
  const double sine = ring.sin_theta;
  Quad z = ring.cos_theta;
  Quad squared_sine = 1 - z * z;
  if (sine * sine < 0.5) {
    squared_sine = Quad(sine) * sine;
    const Quad root = sqrt(1 - squared_sine);
    z = ring.cos_theta < 0 ? Quad(-root) : root;
  }
  // Computes each half-angle function from the expression without cancellation.
  const Quad one_minus_z = z > 0 ? Quad(squared_sine / (1 + z)) : Quad(1 - z);
  const Quad one_plus_z = z < 0 ? Quad(squared_sine / (1 - z)) : Quad(1 + z);
  return {z, sqrt(one_minus_z / 2), sqrt(one_plus_z / 2)};
}

/// (2l+1)/(4 pi) * l-part of the squared Jacobi norm at l = first.
Quad first_squared_norm(int first, int a, int b) {
  // (2 first)! / (a! b! ...) with n = 0: (a + b)! / (a! b!).
  Quad ratio = 1;
  for (int i = 1; i <= a; ++i) ratio *= Quad(b + i) / i;
  return (2 * first + 1) * ratio / (4 * boost::math::constants::pi<Quad>());
}

}  // namespace

std::vector<long double> direct_harmonics(int lmax, int m, int spin, const Ring& ring) {
  std::vector<long double> values(static_cast<std::size_t>(lmax) + 1, 0.0L);
  const int first = std::max(m, std::abs(spin));
  if (first > lmax) return values;
  const Position position = position_of(ring);
  const int a = std::abs(m + spin);
  const int b = std::abs(m - spin);
  const int sign_power = m >= std::abs(spin) || spin > 0 ? m : spin;
  // With -s the power of cos(theta/2) leads: for m < s the sign is that of (-1)^s instead of
  // (-1)^m.
  Quad previous = 0;
  Quad polynomial =
      (sign_power % 2 == 0 ? 1 : -1) * pow(position.half_sine, a) * pow(position.half_cosine, b);
  Quad squared_norm = first_squared_norm(first, a, b);
  for (int l = first; l <= lmax; ++l) {
    values[static_cast<std::size_t>(l)] =
        std::sqrt(static_cast<long double>(squared_norm)) * static_cast<long double>(polynomial);
    const int n = l - first + 1;
    const Quad c = 2 * n + a + b;
    const Quad denominator = 2 * Quad(n) * (n + a + b) * (c - 2);
    Quad next;
    if (n == 1) {
      next = ((a + 1) + (a + b + 2) * (position.z - 1) / 2) * polynomial;
    } else {
      next = ((c - 1) * (c * (c - 2) * position.z + Quad(a) * a - Quad(b) * b) * polynomial -
              2 * Quad(n + a - 1) * (n + b - 1) * c * previous) /
             denominator;
    }
    previous = polynomial;
    polynomial = next;
    squared_norm *= Quad(2 * l + 3) * n * (n + a + b) / (Quad(2 * l + 1) * (n + a) * (n + b));
  }
  return values;
}

std::vector<SpinMode> direct_spin_modes(int lmax, int m, int spin, const Ring& ring) {
  const auto plus = direct_harmonics(lmax, m, spin, ring);
  const auto minus = direct_harmonics(lmax, m, -spin, ring);
  const long double parity = spin % 2 == 0 ? 1 : -1;
  std::vector<SpinMode> modes(plus.size());
  for (std::size_t l = 0; l < plus.size(); ++l) {
    modes[l] = {-(plus[l] + parity * minus[l]) / 2, -(plus[l] - parity * minus[l]) / 2};
  }
  return modes;
}

}  // namespace ringweave::detail
