// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "sphere/kernel/chord_nodes.hpp"
#include "sphere/kernel/legendre_sums.hpp"

namespace ringweave::detail::inline sphere {

// Series of d^l_ss(theta) = cos(theta / 2)^2s P_{l-s}^{(0, 2s)}(cos theta), without the factor in
// front: what is left is a polynomial in cos(theta), smooth at both poles of the arc.

/// Step of the recurrence P_{n+1} - P_n = before (P_n - P_{n-1}) - here (1 - z) P_n, which keeps
/// the digits of 1 - z.
struct JacobiStep {
  double before = 0;
  double here = 0;

  /// Returns the step for P_n^{(0, 2s)}(z), n = l - s; with spin 0 Legendre polynomials.
  static JacobiStep near(int spin, double n);
  /// Returns the step for P_n^{(2s, 0)}(z) over its value at 1.
  static JacobiStep far(int spin, double n);
};

/// Evaluates sum_l coefficient[l] P_{l-s}^{(0, 2s)}(z), l >= s, at z = 1 - chord_squared / 2 and at
/// -z, 0 <= chord_squared <= 2.
///
/// As sum_legendre_series(); at -z the Jacobi polynomials are computed relative to their values at
/// z = -1, from which they fall.
/// Error  a few 1e-15 of sum_l |coefficient[l]| after multiplication with the factor in front
LegendreSeriesValues sum_spin_series(int spin, std::span<const double> coefficient,
                                     std::span<const double> chord_squared);

/// Evaluates sum_l coefficient[l] d^l_s,-s(theta), l >= s, d^l_s,-s = (-1)^s sin(theta / 2)^2s
/// P_{l-s}^{(2s, 0)}; otherwise as sum_spin_series().
LegendreSeriesValues sum_conjugate_series(int spin, std::span<const double> coefficient,
                                          std::span<const double> chord_squared);

/// Computes sum_i value[i] P_{l-s}^{(0, 2s)}(z_i), l = 0..lmax (0 below s), for points in one half.
/// chord_squared  in the chord of that half
std::vector<double> project_on_spin(int spin, Half half, std::span<const double> chord_squared,
                                    std::span<const double> value, int lmax);

}  // namespace ringweave::detail::inline sphere
