// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

// The product of a_lm of one degree with the matrix of a quarter turn about the y axis, vectorized
// over its columns.
namespace ringweave::detail::inline legendre::quarter_turn {

inline constexpr std::int64_t width = 8;  ///< rows, and columns, of a block
inline constexpr int most_maps = 3;       ///< maps that share the recurrence of the matrix
/// Columns that are negligible (below 2^-92) are asleep: their values are multiplied by a power of
/// 2^scale_step, and stay below largest_asleep.
inline constexpr int scale_step = 192;
inline constexpr double largest_asleep = 0x1p100;
inline constexpr double smallest_asleep = 0x1p-92;  ///< largest_asleep 2^-scale_step

/// Doubles of a block of columns: value[8], previous value[8], then for each map x[2][8], y[2][8].
constexpr std::int64_t block_size(int n_maps) { return width * (2 + 4 * n_maps); }

/// Sums over the matrix Delta_kn = d^l_kn(pi/2) of one degree. Row r is k = l - r and column i is
/// n = l - i, both from 0 to l; the last blocks go on with zeros. In each column
///   Delta_kn = gain_r p_r,   p_(r+1) = slope_r n p_r - p_(r-1).
/// Only columns i >= r are computed, since Delta_nk = (-1)^(k-n) Delta_kn. Delta_kn multiplies the
/// real part of a coefficient where l + k + n is even, the imaginary part where it is odd, so in a
/// row both alternate. x[0] and y[0] belong to even rows, x[1] and y[1] to odd ones:
///   row_sums[r][even, odd i] += sum over columns of p_r(i) x[r % 2][i]
///   y[r % 2][i]              += p_r(i) row_values[r][even, odd i], for blocks of columns beyond r
struct Task {
  int l;
  int n_maps;                ///< 1..most_maps
  std::int64_t first_block;  ///< of columns; those before are negligible
  std::int64_t n_blocks;
  double* columns;           ///< [block][block_size]; p_0 is among the values, zero is before it
  std::int32_t* scales;      ///< [block] values are multiplied by 2^(scale_step scale)
  const double* slopes;      ///< [row]
  const double* row_values;  ///< [row][map][2]
  double* row_sums;          ///< [row][map][2]
};

/// Adds the sums; overwrites the values and scales of the columns. 4 multiply-adds for every pair
/// row and column of which k^2 + n^2 < l^2 and n <= k, with one map; 2 more for another map.
void add_sums(const Task& task) noexcept;

/// Fills the tables of the recurrence of degree l, [l + 1]: with A_k = sqrt((l + k) (l - k + 1)),
///   couplings  A_(l-r)
///   ratios     A_(l-r+1) / A_(l-r), from r = 1
///   falls      sqrt((l - n) / (l + n + 1)) = |Delta_l(n+1) / Delta_ln|
void fill_factors(int l, double* couplings, double* ratios, double* falls) noexcept;

}  // namespace ringweave::detail::inline legendre::quarter_turn
