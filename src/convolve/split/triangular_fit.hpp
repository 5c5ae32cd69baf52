// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ringweave::detail::inline convolve {

/// Columns of equal length.
struct Columns {
  std::size_t length = 0;
  std::vector<double> values;  ///< [column][row]

  std::size_t count() const { return length > 0 ? values.size() / length : 0; }
  std::span<double> operator[](std::size_t j) {
    return std::span(values).subspan(j * length, length);
  }
  std::span<const double> operator[](std::size_t j) const {
    return std::span(values).subspan(j * length, length);
  }
};

/// columns = (orthonormal columns) times R; the columns become the orthonormal ones, or 0 where a
/// column depends on those before it. Returns R, upper triangular, [row][column].
/// Gram-Schmidt, twice.
std::vector<double> orthonormalize(Columns& columns);

/// Rows a, [row][n + 1], with sum of a^T a = M and a last element of 0, as a TriangularFit takes
/// them.
/// M            [n][n], symmetric, positive to rounding
/// least_pivot  remainders of M below it count as rounding
std::vector<double> rows_of_normal_matrix(std::vector<double> matrix, std::size_t n,
                                          double least_pivot);

/// min |A x - b| where the rows of A come one lot after the other: keeps the triangle R of a QR
/// factorization of [A | b]. Copies are independent.
class TriangularFit {
 public:
  explicit TriangularFit(std::size_t n_unknowns);
  /// rows  [row][n + 1], the last column is b; destroyed
  /// Cost  2 rows (n + 1)^2 FLOP
  void add(std::span<double> rows);

  std::size_t n_unknowns() const { return width_ - 1; }
  /// min |A x - b|
  double residual() const;
  std::vector<double> solution() const;

 private:
  std::size_t width_;
  std::vector<double> r_;  ///< [n + 1][n + 1]
};

}  // namespace ringweave::detail::inline convolve
