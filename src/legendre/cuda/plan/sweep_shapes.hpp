// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "base/host_device.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"

namespace ringweave::detail::gpu {

/// Coefficients of one step of a recurrence: p_{k+1} = (a x + g) p_k + b p_{k-1}.
template <int Functions>
struct Step {
  double a;
  double b;
  Array<double, Functions> g;
};

// Kinds of sweeps over the degrees, as on the host (sweep::Kind). Sum o is function(o) times column
// o % columns, over the steps for which count(o, parity of the step) holds.

/// Scalar maps, two degrees per step (RecurrenceByTwo). Coefficients are stored; b is 1.
template <int Maps>
struct ScalarsByTwo {
  static constexpr bool by_one = false;
  static constexpr int components = Maps;
  static constexpr int functions = 1;
  static constexpr int columns = 4 * Maps;  ///< even re, im, odd re, im
  static constexpr int sums = 4 * Maps;
  static constexpr int step_size = 2;  ///< Double2 per step: (a, g from equator), (a, g from pole)
  RINGWEAVE_HOST_DEVICE static constexpr int function(int) { return 0; }
  RINGWEAVE_HOST_DEVICE static constexpr bool counts(int, bool) { return true; }
  RINGWEAVE_HOST_DEVICE static constexpr bool alternates(int) { return false; }
  RINGWEAVE_HOST_DEVICE static Step<1> load(const Double2* step, int variable) {
    const Double2 c = step[variable];
    return {c.x, 1, {c.y}};
  }
};

/// Returns e_l = sqrt((l^2 - m^2) (l^2 - s^2) / (l^2 (4 l^2 - 1))).
RINGWEAVE_HOST_DEVICE double degree_factor(int l, int m, int spin) {
  const double degree = l;
  const double square = 4 * degree * degree - 1;
  const double order = (degree - m) * (degree + m);
  if (spin == 0) return std::sqrt(order / square);
  return std::sqrt(order * ((degree - spin) * (degree + spin)) / (degree * degree * square));
}

/// Computes the coefficients of a one-degree step where they are used:
///   e_{l+1} lambda_{l+1} = (z +- m s / (l (l + 1))) lambda_l - e_l lambda_{l-1}.
/// step  (a, b), (g of both functions from the equator), (from the pole)
RINGWEAVE_HOST_DEVICE void step_by_one(int l, int first_degree, int m, int spin, Double2* step) {
  const double up = 1 / degree_factor(l + 1, m, spin);
  const double down = l == first_degree ? 0 : degree_factor(l, m, spin);
  const double degree = l;
  const double shift = spin == 0 ? 0 : static_cast<double>(m) * spin / (degree * (degree + 1));
  step[0] = {up, -down * up};
  step[1] = {up * shift, -up * shift};
  step[2] = {up * (1 + shift), up * (1 - shift)};
}

/// Scalar maps, one degree per step: used near the equator, where two-degree steps lose digits.
template <int Maps>
struct ScalarsByOne {
  static constexpr bool by_one = true;
  static constexpr int components = Maps;
  static constexpr int functions = 1;
  static constexpr int columns = 2 * Maps;
  static constexpr int sums = 4 * Maps;  ///< over the even steps, then over the odd ones
  static constexpr int step_size = 3;
  RINGWEAVE_HOST_DEVICE static constexpr int function(int) { return 0; }
  RINGWEAVE_HOST_DEVICE static constexpr bool counts(int sum, bool odd) {
    return (sum >= columns) == odd;
  }
  RINGWEAVE_HOST_DEVICE static constexpr bool alternates(int) { return false; }
  RINGWEAVE_HOST_DEVICE static Step<1> load(const Double2* step, int variable) {
    return {step[0].x, step[0].y, {step[1 + variable].x}};
  }
};

/// One field of spin s by Wigner's d functions. Columns are E + iB (re, im), E - iB. Sums are these
/// times lambda_{+s}, lambda_{-s} for the northern ring, then with the functions exchanged and
/// alternating sign for the southern one.
struct SpinByOne {
  static constexpr bool by_one = true;
  static constexpr int components = 2;
  static constexpr int functions = 2;
  static constexpr int columns = 4;
  static constexpr int sums = 8;
  static constexpr int step_size = 3;
  RINGWEAVE_HOST_DEVICE static constexpr int function(int sum) {
    return (sum / 2 == 0 || sum / 2 == 3) ? 0 : 1;
  }
  RINGWEAVE_HOST_DEVICE static constexpr bool counts(int, bool) { return true; }
  RINGWEAVE_HOST_DEVICE static constexpr bool alternates(int sum) { return sum >= columns; }
  RINGWEAVE_HOST_DEVICE static Step<2> load(const Double2* step, int variable) {
    return {step[0].x, step[0].y, {step[1 + variable].x, step[1 + variable].y}};
  }
};

}  // namespace ringweave::detail::gpu
