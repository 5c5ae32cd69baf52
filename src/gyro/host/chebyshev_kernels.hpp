// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline gyro {

/// Targets whose rows of the operator are stored together: whole vectors of every instruction set.
inline constexpr std::int64_t targets_together = 16;

/// Rows of matrices end with zeros, up to whole vectors.
constexpr std::int64_t padded_length(std::int64_t n) { return (n + 15) / 16 * 16; }

/// Terms of a product of two matrices, a(row, k) b(k, column) for k < n.
struct ProductTerms {
  std::int64_t n = 0;
  const double* a = nullptr;
  std::int64_t a_term = 0;  ///< from k to k + 1
  std::int64_t a_row = 0;   ///< from row to row + 1
  const double* b = nullptr;
  std::int64_t b_term = 0;
};
/// Overwrites `out` with the sums of the terms, one after the other.
/// n_columns  of b and out, a multiple of 16
void multiply_matrices(const ProductTerms& terms, std::int64_t n_rows, std::int64_t n_columns,
                       double* out, std::int64_t out_row) noexcept;

/// Computes weights[k] T_p(u[k]) for k < n_points, a multiple of 8, by the three-term recurrence.
/// out  [k][p], p < n_degrees
void chebyshev_values(const double* u, const double* weights, std::int64_t n_points,
                      std::int64_t n_degrees, double* out, std::int64_t out_row) noexcept;

/// A column that rows are multiplied with, and the sums for each of their targets.
struct ColumnSum {
  const double* column = nullptr;
  double* sums = nullptr;
};
/// Adds rows[k][target] column[k] to the sums, for targets_together targets and k < n, in an order
/// that n alone decides: sums do not depend on the other columns.
void add_row_sums(const double* rows, std::int64_t n, const ColumnSum* columns,
                  std::int64_t n_columns) noexcept;

/// Values at targets, and the column that rows times values are added to.
struct ColumnSpread {
  const double* values = nullptr;  ///< of the first target
  double* column = nullptr;
};
/// Adds weight times the sum of rows[block][k][target] values[block][target] to column[k], k < n.
/// rows  blocks of targets_together targets, `block_size` doubles apart
void spread_rows(const double* rows, std::int64_t block_size, std::int64_t n_blocks, std::int64_t n,
                 double weight, const ColumnSpread* columns, std::int64_t n_columns) noexcept;

}  // namespace ringweave::detail::inline gyro
