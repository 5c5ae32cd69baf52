// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace ringweave::detail::inline nonuniform {

/// Borrowed coefficients of taps as polynomials in the offset x, -1 <= x <= 1, of a point among its
/// taps. Tap i < half is even_i(x^2) + x odd_i(x^2), and tap width - 1 - i is tap i at -x.
struct TapPolynomials {
  /// [power of x^2][even, odd][half], aligned to 64 bytes. Entries i from (width + 1) / 2 on hold
  /// tap i, too, and zero from `width` on.
  const double* coefficients;
  int width;    ///< taps
  int half;     ///< 4 for up to 8 taps, 8 for up to 16
  int n_terms;  ///< powers of x^2, in either polynomial

  RINGWEAVE_HOST_DEVICE int row_size() const { return 2 * half; }
  /// Returns the number of taps with zeros up to whole vectors of 8.
  RINGWEAVE_HOST_DEVICE int padded_width() const { return 2 * half; }
};

/// Evaluates one tap. 2 n_terms multiply-adds.
RINGWEAVE_HOST_DEVICE double tap_value(const TapPolynomials& taps, int tap, double x) {
  const int mirrored = taps.width - 1 - tap;
  const int i = tap < mirrored ? tap : mirrored;
  const double square = x * x;
  const double* row = taps.coefficients + (taps.n_terms - 1) * taps.row_size() + i;
  double even = row[0];
  double odd = row[taps.half];
  while (row != taps.coefficients + i) {
    row -= taps.row_size();
    even = even * square + row[0];
    odd = odd * square + row[taps.half];
  }
  return tap <= mirrored ? even + x * odd : even - x * odd;
}

}  // namespace ringweave::detail::inline nonuniform
