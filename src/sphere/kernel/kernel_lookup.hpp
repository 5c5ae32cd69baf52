// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace ringweave::detail::inline sphere {

/// The arrays of a KernelTable wherever they are, in a device's memory too.
struct KernelLookup {
  static constexpr int degree = 7;

  double chord_squared_cut = 0;
  double scale = 0;
  std::int64_t far_offset = 0;
  const double* coefficients = nullptr;       ///< [piece][degree + 1]
  const std::int32_t* first_piece = nullptr;  ///< [cell]; null: every cell is a piece
  const double* piece_end = nullptr;          ///< [piece]
  const double* piece_centre = nullptr;       ///< [piece]

  /// Returns K at a distance of this chord, 0 beyond the support.
  RINGWEAVE_HOST_DEVICE double evaluate(double chord_squared) const {
    if (!(chord_squared <= chord_squared_cut)) return 0;
    const bool far = chord_squared > 2;
    const double away = chord_squared < 4 ? 4 - chord_squared : 0;
    const double x = scale * std::sqrt(far ? away : chord_squared);
    const auto whole = static_cast<std::int64_t>(x);
    const std::int64_t cell = far ? whole + far_offset : whole;
    if (first_piece == nullptr) return polynomial(cell, x - (static_cast<double>(whole) + 0.5));
    std::int64_t piece = first_piece[cell];
    while (x > piece_end[piece]) ++piece;
    return polynomial(piece, x - piece_centre[piece]);
  }

 private:
  RINGWEAVE_HOST_DEVICE double polynomial(std::int64_t piece, double t) const {
    const double* a = coefficients + piece * (degree + 1);
    double value = a[degree];
    for (int k = degree; k-- > 0;) value = std::fma(value, t, a[k]);
    return value;
  }
};

}  // namespace ringweave::detail::inline sphere
