// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

namespace ringweave::detail::inline sphere {

/// Values of a Legendre series at pairs of mirrored points.
struct LegendreSeriesValues {
  std::vector<double> near;  ///< [point] at z
  std::vector<double> far;   ///< [point] at -z
};

/// Evaluates sum_l coefficient[l] P_l(z) at z = 1 - chord_squared / 2 and at -z, 0 <= chord_squared
/// <= 2.
///
/// Uses the recurrence in P_{l+1} - P_l, which keeps the digits of 1 - z. OpenMP over points.
/// Error  a few 1e-15 of sum_l |coefficient[l]| at 15,000 degrees, growing like their square root.
/// Cost   4 FMA per degree and pair of points.
LegendreSeriesValues sum_legendre_series(std::span<const double> coefficient,
                                         std::span<const double> chord_squared);

/// Computes sum_i value[i] P_l(1 - chord_squared[i] / 2), l = 0..lmax; same conditions, error and
/// cost.
std::vector<double> project_on_legendre(std::span<const double> chord_squared,
                                        std::span<const double> value, int lmax);

}  // namespace ringweave::detail::inline sphere
