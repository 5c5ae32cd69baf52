// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/degree_rotation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "base/checked_cast.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

using Complex = DegreeRotation::Complex;

/// Returns d^l_mn(theta) by the explicit sum, for low degrees.
long double explicit_sum(int l, int m, int n, long double theta) {
  const auto factorial = [](int i) { return std::tgamma(i + 1.0L); };
  const long double c = std::cos(theta / 2);
  const long double s = std::sin(theta / 2);
  const long double norm =
      std::sqrt(factorial(l + m) * factorial(l - m) * factorial(l + n) * factorial(l - n));
  long double sum = 0;
  for (int k = std::max(0, n - m); k <= std::min(l + n, l - m); ++k) {
    sum += ((m - n + k) % 2 == 0 ? 1 : -1) * std::pow(c, 2 * l + n - m - 2 * k) *
           std::pow(s, m - n + 2 * k) /
           (factorial(l + n - k) * factorial(k) * factorial(m - n + k) * factorial(l - m - k));
  }
  return norm * sum;
}

/// A product beyond the range of its factors.
struct Scaled {
  long double mantissa = 1;
  int exponent = 0;
  void multiply(long double factor) {
    int shift = 0;
    mantissa = std::frexp(mantissa * factor, &shift);
    exponent += shift;
  }
};

/// Fills x[0..count), of which x_0 is `first`, by next(i) = x_(i+1), which is linear in x_i and
/// x_(i-1).
template <class Next>
void recur(std::vector<long double>& x, int count, Scaled first, const Next& next) {
  constexpr int step = 4000;
  x.assign(to_size(count), 0);
  if (count > 0) x[0] = first.mantissa;
  for (int i = 0; i + 1 < count; ++i) {
    x[to_size(i + 1)] = next(i);
    if (std::abs(x[to_size(i + 1)]) < std::ldexp(1.0L, step)) continue;
    for (int j = 0; j <= i + 1; ++j) x[to_size(j)] = std::ldexp(x[to_size(j)], -step);
    first.exponent += step;
  }
  for (long double& value : x) value = std::ldexp(value, first.exponent);
}

/// Returns d^l_mn(theta) for m = -l..l, 0 < theta < pi, by recurrence in m from both ends to the
/// middle of the oscillating values, in long double.
/// From  the matrix elements of J_x, e.g. Edmonds (1957), eq. 4.1.12
std::vector<long double> column(int l, int n, long double theta) {
  Scaled top;  // root of binomial(2 l, l + n), with the powers of cos and sin
  Scaled bottom;
  for (int i = 1; i <= l - n; ++i) {
    const long double factor = std::sqrt((l + n + i) / static_cast<long double>(i));
    top.multiply(-factor * std::sin(theta / 2));
    bottom.multiply(factor * std::cos(theta / 2));
  }
  for (int i = 0; i < l + n; ++i) {
    top.multiply(std::cos(theta / 2));
    bottom.multiply(std::sin(theta / 2));
  }
  const auto coupling = [&](int m) {
    return std::sqrt(static_cast<long double>(l + m) * static_cast<long double>(l - m + 1));
  };
  const auto diagonal = [&](int m) { return 2 * (n - m * std::cos(theta)) / std::sin(theta); };
  const int middle = static_cast<int>(std::lround(n * std::cos(theta)));
  std::vector<long double> falling;
  recur(falling, l - middle + 1, top, [&](int i) {
    const int m = l - i;
    const long double above = i == 0 ? 0 : coupling(m + 1) * falling[to_size(i - 1)];
    return (diagonal(m) * falling[to_size(i)] - above) / coupling(m);
  });
  std::vector<long double> rising;
  recur(rising, middle + l, bottom, [&](int i) {
    const int m = i - l;
    const long double below = i == 0 ? 0 : coupling(m) * rising[to_size(i - 1)];
    return (diagonal(m) * rising[to_size(i)] - below) / coupling(m + 1);
  });
  rising.insert(rising.end(), falling.rbegin(), falling.rend());
  return rising;
}

struct Angles {
  long double psi;
  long double theta;
  long double phi;
};

/// Returns a'_m, m = 0..l, of the a_lm that are `value` at m = n (and (-1)^n conj(value) at -n).
template <class Wigner>
std::vector<Complex> expected(int l, int n, Complex value, const Angles& angles, const Wigner& d) {
  std::vector<Complex> result;
  const Complex turned = value * turn_phase(n, angles.psi);
  for (int m = 0; m <= l; ++m) {
    Complex sum = static_cast<double>(d(m, n)) * turned;
    if (n > 0) sum += (n % 2 == 0 ? 1. : -1.) * static_cast<double>(d(m, -n)) * std::conj(turned);
    result.push_back(sum * turn_phase(m, angles.phi));
  }
  return result;
}

std::vector<Complex> rotated(const DegreeRotation& rotation, DegreeRotation::Scratch& scratch,
                             int l, int n, Complex value) {
  std::fill_n(scratch.alm(0), l + 1, Complex());
  scratch.alm(0)[n] = value;
  rotation.rotate(l, scratch);
  return {scratch.alm(0), scratch.alm(0) + l + 1};
}

/// Root of the sum of squared differences; the values have norm 1 for m = -l..l.
double difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::norm(a[i] - b[i]);
  return std::isfinite(sum) ? std::sqrt(sum) : 1e300;
}

constexpr Complex value_of(int n) { return n == 0 ? Complex(1, 0) : Complex(0.6, 0.8); }

TEST(DegreeRotation, IsTheExplicitSumAtLowDegrees) {
  for (const Angles& angles : {Angles{0, 1, 0}, Angles{0.3, 0.7, -2}, Angles{-4, -2.5, 1},
                               Angles{1, 1e-5, 2}, Angles{0, 3.1, 0}}) {
    const DegreeRotation rotation(15, angles.psi, angles.theta, angles.phi);
    DegreeRotation::Scratch scratch(15, 1);
    for (int l = 0; l <= 15; ++l) {
      for (int n = 0; n <= l; ++n) {
        const auto wanted = expected(l, n, value_of(n), angles, [&](int m, int k) {
          return explicit_sum(l, m, k, angles.theta);
        });
        EXPECT_LE(difference(rotated(rotation, scratch, l, n, value_of(n)), wanted),
                  tolerance::direct_sum)
            << "l = " << l << ", m = " << n << ", theta = " << angles.theta;
      }
    }
  }
}

void expect_recurrence(int l, const std::vector<int>& orders) {
  for (const Angles& angles :
       {Angles{0.3, 1.0504884, -2}, Angles{0, 0.4090928, 0}, Angles{1, 2.9, 1}}) {
    const DegreeRotation rotation(l, angles.psi, angles.theta, angles.phi);
    DegreeRotation::Scratch scratch(l, 1);
    for (const int n : orders) {
      const std::vector<long double> plus = column(l, n, angles.theta);
      const std::vector<long double> minus = column(l, -n, angles.theta);
      const auto wanted = expected(l, n, value_of(n), angles, [&](int m, int k) {
        return (k == n ? plus : minus)[to_size(std::int64_t{m} + l)];
      });
      EXPECT_LE(difference(rotated(rotation, scratch, l, n, value_of(n)), wanted),
                tolerance::direct_sum)
          << "l = " << l << ", m = " << n << ", theta = " << angles.theta;
    }
  }
}

TEST(DegreeRotation, IsTheRecurrenceForAnyAngleInHigherPrecision) {
  expect_recurrence(14, {0, 1, 2, 7, 13, 14});
  expect_recurrence(63, {0, 1, 30, 44, 45, 46, 63});
  expect_recurrence(64, {0, 1, 32, 63, 64});
  expect_recurrence(300, {0, 1, 2, 150, 211, 212, 213, 299, 300});
  expect_recurrence(1000, {0, 1, 500, 707, 708, 999, 1000});
}

TEST(DegreeRotation, IsTheRecurrenceAtDegree4096) {
  expect_recurrence(4096, {0, 1, 10, 2048, 2896, 2897, 3000, 4000, 4095, 4096});
}

TEST(DegreeRotation, OfSeveralComponentsRotatesEachAsIfAlone) {
  constexpr int l = 90;
  constexpr std::int64_t n_components = 5;
  const DegreeRotation rotation(l, 1, 2, 3);
  DegreeRotation::Scratch together(l, n_components);
  for (std::int64_t c = 0; c < n_components; ++c) {
    for (int m = 0; m <= l; ++m)
      together.alm(c)[m] = {std::sin(m + 7. * static_cast<double>(c)), std::cos(3. * m)};
  }
  std::vector<std::vector<Complex>> alone;
  for (std::int64_t c = 0; c < n_components; ++c) {
    DegreeRotation::Scratch scratch(l, 1);
    std::copy_n(together.alm(c), l + 1, scratch.alm(0));
    rotation.rotate(l, scratch);
    alone.emplace_back(scratch.alm(0), scratch.alm(0) + l + 1);
  }
  rotation.rotate(l, together);
  for (std::int64_t c = 0; c < n_components; ++c) {
    const std::vector<Complex> found(together.alm(c), together.alm(c) + l + 1);
    EXPECT_LE(difference(found, alone[to_size(c)]), tolerance::direct_sum);
  }
}

TEST(DegreeRotation, IsTheSameWithEveryInstructionSetOfThisMachine) {
  constexpr int l = 700;
  const DegreeRotation rotation(l, 1, 2, 3);
  DegreeRotation::Scratch scratch(l, 1);
  const std::vector<Complex> best = rotated(rotation, scratch, l, 300, {0.6, 0.8});
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    const test::OnlyTarget scope(rest & -rest);
    EXPECT_LE(difference(rotated(rotation, scratch, l, 300, {0.6, 0.8}), best),
              tolerance::direct_sum)
        << hwy::TargetName(rest & -rest);
  }
}

}  // namespace
}  // namespace ringweave::detail
