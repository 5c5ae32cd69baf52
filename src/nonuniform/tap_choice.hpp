// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline nonuniform {

inline constexpr double least_epsilon = 1e-13;

/// Size and required accuracy of a transform to arbitrary points.
struct TapProblem {
  std::int64_t lmax = 0;
  std::int64_t mmax = 0;
  /// Bound of the error of every mode over its amplitude, wherever points lie among the samples,
  /// and so of the rms error of values over their rms; without rounding.
  double epsilon = 0;
  std::int64_t n_points = 0;
  int n_components = 1;
};

/// Fine samples in one direction, and how many of them give the value of a point.
struct TapSize {
  std::int64_t length = 0;  ///< rows from pole to pole, or pixels of a row; an even FFT length
  int width = 0;            ///< taps
  double oversampling = 0;  ///< for the TapKernel; at most length over the least that is needed
};

struct TapChoice {
  TapSize theta;
  TapSize phi;
  double error = 0;    ///< bound of the worst mode's, <= epsilon
  double seconds = 0;  ///< predicted, of one core, without the work that all choices share
};

/// Returns a bound of TapKernel::error() without a fit, from a table; up to half above it.
/// oversampling  1.15 or more
double kernel_error_bound(int width, double oversampling);

/// Returns the operations on vectors that the taps of a point take: weights and sums.
double tap_operations(int theta_width, int phi_width, std::int64_t n_components);

/// Returns the rms error that rounding leaves in values, over the rms of the field.
constexpr double rounding_error(int lmax) { return 1e-13 + 2e-16 * lmax; }

/// Finds the taps and fine samples of least predicted cost that meet epsilon for all a_lm. The same
/// on every rank; below a millisecond.
/// Error  UsageError unless least_epsilon <= epsilon < 1.
TapChoice choose_taps(const TapProblem& problem);

}  // namespace ringweave::detail::inline nonuniform
