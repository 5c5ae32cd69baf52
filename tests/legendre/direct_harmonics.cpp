// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/direct_harmonics.hpp"

#include <algorithm>
#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <cstdint>
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

struct DirectHarmonics::Step {
  long double norm;
  Quad slope;
  Quad shift;
  Quad fall;
};

DirectHarmonics::DirectHarmonics(int lmax, int m, int spin)
    : lmax_(lmax), first_(std::max(m, std::abs(spin))) {
  if (first_ > lmax) return;
  a_ = std::abs(m + spin);
  b_ = std::abs(m - spin);
  // With -s the power of cos(theta/2) leads: for m < s the sign is that of (-1)^s instead of
  // (-1)^m.
  const int sign_power = m >= std::abs(spin) || spin > 0 ? m : spin;
  sign_ = sign_power % 2 == 0 ? 1 : -1;
  const std::int64_t a = a_;
  const std::int64_t b = b_;
  Quad squared_norm = first_squared_norm(first_, a_, b_);
  for (std::int64_t l = first_; l <= lmax; ++l) {
    const std::int64_t n = l - first_ + 1;
    const std::int64_t c = 2 * n + a + b;
    Step& step = steps_.emplace_back();
    step.norm = std::sqrt(static_cast<long double>(squared_norm));
    if (n == 1) {
      step.slope = Quad(c) / 2;
      step.shift = Quad(a - b) / 2;
    } else {
      // Products of integers are exact.
      const Quad denominator = 2 * n * (n + a + b) * (c - 2);
      step.slope = (c - 1) * c * (c - 2) / denominator;
      step.shift = (c - 1) * (a - b) * (a + b) / denominator;
      step.fall = 2 * (n + a - 1) * (n + b - 1) * c / denominator;
    }
    squared_norm *= (2 * l + 3) * n * (n + a + b);
    squared_norm /= (2 * l + 1) * (n + a) * (n + b);
  }
}

DirectHarmonics::~DirectHarmonics() = default;

std::vector<long double> DirectHarmonics::at(const Ring& ring) const {
  std::vector<long double> values(static_cast<std::size_t>(lmax_) + 1, 0.0L);
  if (steps_.empty()) return values;
  const Position position = position_of(ring);
  Quad previous = 0;
  Quad polynomial = sign_ * pow(position.half_sine, a_) * pow(position.half_cosine, b_);
  auto value = values.begin() + first_;
  for (const Step& step : steps_) {
    *value++ = step.norm * static_cast<long double>(polynomial);
    const Quad next = (step.slope * position.z + step.shift) * polynomial - step.fall * previous;
    previous = polynomial;
    polynomial = next;
  }
  return values;
}

DirectSpinModes::DirectSpinModes(int lmax, int m, int spin)
    : plus_(lmax, m, spin), minus_(lmax, m, -spin), parity_(spin % 2 == 0 ? 1 : -1) {}

std::vector<SpinMode> DirectSpinModes::at(const Ring& ring) const {
  const auto plus = plus_.at(ring);
  const auto minus = minus_.at(ring);
  std::vector<SpinMode> modes(plus.size());
  for (std::size_t l = 0; l < plus.size(); ++l)
    modes[l] = {-(plus[l] + parity_ * minus[l]) / 2, -(plus[l] - parity_ * minus[l]) / 2};
  return modes;
}

}  // namespace ringweave::detail
