// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "nonuniform/tap_polynomials.hpp"
#include "nonuniform/tap_shape.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// The weights with which the fine samples around a point give its value, f = sum_i phi(t_i) h_i,
/// and their transform, by which modes are divided before. Plain data, the same for both directions
/// of a transform and on every rank. Planning takes some milliseconds.
class TapKernel {
 public:
  static constexpr int least_width = 3;
  static constexpr int most_width = 16;

  /// width         taps, that is fine samples around a point
  /// oversampling  fine samples over those that the highest mode needs at least; above 1
  /// Error  InternalError outside these ranges.
  TapKernel(int width, double oversampling);

  int width() const { return shape_.width; }
  double oversampling() const { return oversampling_; }
  /// Returns the degree of the polynomials, which is odd.
  int degree() const { return 2 * n_terms_ - 1; }
  /// Returns the shape that the polynomials approximate, to error() / 30 of its largest value.
  const TapShape& shape() const { return shape_; }
  TapPolynomials polynomials() const;

  /// Returns the transform of the polynomials, the integral of phi(t) cos(2 pi xi t) over all taps,
  /// |t| <= width / 2, to rounding relative to itself.
  /// frequency  xi in cycles per fine sample, 0 to 1 / (2 oversampling)
  double transform(double frequency) const;

  /// Predicts the error of the worst mode over its amplitude at the worst offset of a point among
  /// the samples, without rounding.
  double error() const { return error_; }
  /// Predicts the error of one mode.
  double error(double frequency) const;

 private:
  void fill_polynomials(const std::vector<std::vector<long double>>& series);
  void fit_transform();

  double oversampling_;
  TapShape shape_;
  int n_terms_ = 0;
  HostBuffer<double> coefficients_;
  /// Chebyshev series of log h in the square of the frequency.
  std::vector<double> log_transform_;
  double error_ = 0;
};

}  // namespace ringweave::detail::inline nonuniform
