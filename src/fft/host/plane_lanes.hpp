// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "fft/lane_transform.hpp"
#include "ringweave/views.hpp"

// Steps of the filter of planes in vector lanes. A strip is as many neighbouring columns as a
// vector has lanes, [row][re, im][lane]: 2 width() doubles for each row. Memory is aligned to
// vectors.
namespace ringweave::detail::inline fft::plane_lanes {

/// Returns the columns of a strip, the number of doubles in a vector of this machine.
std::int64_t width() noexcept;

/// Computes out_j = sum_k in_k exp(+2 pi i j k / length) of every column. Returns `data` or
/// `other`, the one that holds the result.
double* transform(const LaneTransform& fft, double* data, double* other) noexcept;

/// Lengths of a plane and the turns of its cosine axes, for the product of its strips with a
/// multiplier (plane_filter.cpp).
struct Multiplied {
  std::int64_t x_length = 0;
  std::int64_t y_length = 0;
  std::int64_t n_numbers = 0;  ///< of a row, x_length / 2 + 1
  /// exp(i pi p / x_length) of every number of the strips, exp(i pi q / y_length) of q <= y_length
  /// / 2; null: a Fourier axis.
  const std::complex<double>* x_turns = nullptr;
  const std::complex<double>* y_turns = nullptr;
};

/// A multiplier, [frequency of y][frequency of x], or the part of it from one of x on.
struct MultiplierRows {
  const double* values = nullptr;
  std::int64_t apart = 0;
  std::int64_t begin = 0;  ///< frequency of x
};

/// Adds weight times the multiplied strip to `sum`, or overwrites it.
/// multiplier     all of a cosine axis, or the numbers of the strip
/// spectrum, sum  strip of number `first` of each row and those after it
void multiply(const Multiplied& plane, const MultiplierRows& multiplier, double weight,
              std::int64_t first, const double* spectrum, double* sum, Accumulate how) noexcept;

}  // namespace ringweave::detail::inline fft::plane_lanes
