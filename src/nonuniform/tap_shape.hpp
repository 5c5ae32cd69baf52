// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace ringweave::detail::inline nonuniform {

/// The weight of a fine sample at distance t, |t| <= width / 2, from a point, with x = 2 t / width:
///   phi(x) = I0(b sqrt(1 - x^2)) / I0(b) (1 + c_1 P_2(x) + c_2 P_4(x) + c_3 P_6(x))
struct TapShape {
  static constexpr int n_corrections = 3;
  int width;
  long double b;
  std::array<long double, n_corrections> corrections;  ///< c

  long double operator()(long double x) const;
};

/// Finds the shape for which the worst mode up to the frequency 1 / (2 oversampling) has the least
/// error at the worst offset of a point: c by reweighted least squares, b by trial. Milliseconds.
/// From   Kaiser & Bessel's window; Fessler & Sutton (2003), IEEE Trans. Signal Process. 51,
///        doi:10.1109/TSP.2002.807005 (errors of interpolation from oversampled modes)
TapShape fit_tap_shape(int width, double oversampling);

}  // namespace ringweave::detail::inline nonuniform
