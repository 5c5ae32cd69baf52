// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace ringweave::detail::inline convolve::sector {

/// Output pixels processed together.
inline constexpr std::int64_t pixels_together = 8;
/// The row of a pixel is padded to a multiple of this many doubles.
inline constexpr std::int64_t lanes = 8;

/// An output ring and an input ring. Longitudes are in units of pi / (n_out n_in), from the first
/// pixel of the output ring's sector: exact where the offsets are whole or half pixels.
struct Pair {
  double n_out = 0;  ///< pixels
  double n_in = 0;
  double twice_offset_out = 0;  ///< of the first pixel, in half pixels
  double twice_offset_in = 0;
  double unit = 0;        ///< radians
  double half_width = 0;  ///< radians; pi or more: every pixel of the ring
  std::int64_t n_coefficients = 0;
  /// Coefficients of a series in v = 2 phi^2 / half_width^2 - 1, of powers or Chebyshev
  /// polynomials.
  const double* coefficients = nullptr;
  bool is_monomial = false;
  const double* row = nullptr;  ///< input pixel 0 of the sector, [pixel][lane]
  std::int64_t mirror = 0;      ///< input pixel j is mirrored to mirror - j
};

/// The first tap of each output pixel, and the largest number of taps of any of them.
struct Window {
  std::array<std::int64_t, pixels_together> first{};
  std::int64_t n_taps = 0;
};

/// Returns the windows of output pixels [pixel, pixel + pixels_together).
Window place(const Pair& pair, std::int64_t pixel) noexcept;

/// Sets values[tap][pixel], tap in [begin, end) of a window, from the series; 0 beyond the half
/// width.
void evaluate(const Pair& pair, std::int64_t pixel, const Window& window, std::int64_t begin,
              std::int64_t end, double* values) noexcept;

/// Returns the longitude of a tap relative to its output pixel, in radians.
double longitude(const Pair& pair, std::int64_t pixel, std::int64_t input) noexcept;

/// Some of the taps of a pair, with their values.
struct Part {
  const Pair* pair = nullptr;
  Window window;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const double* values = nullptr;  ///< [tap - begin][pixel]
};

/// Adds values * rows to sums[pixel][0: direct, 1: mirrored][lane], for all parts. n_lanes is a
/// multiple of `lanes`. Without mirrors the mirrored sums are not touched.
void add(std::span<const Part> parts, std::int64_t n_lanes, bool with_mirrors,
         double* sums) noexcept;

}  // namespace ringweave::detail::inline convolve::sector
