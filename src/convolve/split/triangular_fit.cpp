// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/triangular_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ringweave::detail::inline convolve {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  // Several sums at once, which fill vectors.
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= a.size(); i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void subtract(double factor, const double* a, double* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) from[i] -= factor * a[i];
}

}  // namespace

std::vector<double> orthonormalize(Columns& columns) {
  const std::size_t n = columns.count();
  std::vector<double> r(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const std::span<double> column = columns[j];
    const double before = std::sqrt(dot(column, column));
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < j; ++i) {
        const double part = dot(columns[i], column);
        r[i * n + j] += part;
        subtract(part, columns[i].data(), column.data(), column.size());
      }
    }
    const double length = std::sqrt(dot(column, column));
    const bool depends = !(length > 1e-13 * before);
    r[j * n + j] = depends ? 0 : length;
    for (double& value : column) value = depends ? 0 : value / length;
  }
  return r;
}

TriangularFit::TriangularFit(std::size_t n_unknowns)
    : width_(n_unknowns + 1), r_(width_ * width_, 0.0) {}

std::vector<double> rows_of_normal_matrix(std::vector<double> matrix, std::size_t n,
                                          double least_pivot) {
  // Cholesky with the largest pivot first: M = sum of row^T row.
  std::vector<double> rows;
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t j = 0;
    for (std::size_t k = 1; k < n; ++k) {
      if (matrix[k * n + k] > matrix[j * n + j]) j = k;
    }
    if (!(matrix[j * n + j] > least_pivot)) break;
    const double pivot = std::sqrt(matrix[j * n + j]);
    const std::size_t first = rows.size();
    for (std::size_t k = 0; k < n; ++k) rows.push_back(matrix[j * n + k] / pivot);
    const double* row = rows.data() + first;
    for (std::size_t i = 0; i < n; ++i) {
      if (row[i] != 0) subtract(row[i], row, matrix.data() + i * n, n);
    }
    // Eliminated: rounding must not bring it back.
    for (std::size_t k = 0; k < n; ++k) matrix[j * n + k] = matrix[k * n + j] = 0;
    rows.push_back(0);
  }
  return rows;
}

void TriangularFit::add(std::span<double> rows) {
  const std::size_t n_rows = rows.size() / width_;
  std::vector<double> sums(width_);
  // One Householder reflection per column, of R's diagonal element and the new rows.
  for (std::size_t j = 0; j < width_; ++j) {
    double below = 0;
    for (std::size_t i = 0; i < n_rows; ++i) below += rows[i * width_ + j] * rows[i * width_ + j];
    constexpr double least = 1e-280;  // below it squares lose their digits
    if (below < least) continue;
    double* top = r_.data() + j * width_;
    const double length = std::sqrt(top[j] * top[j] + below);
    const double diagonal = top[j] > 0 ? -length : length;
    const double first = top[j] - diagonal;
    const double factor = 2 / (first * first + below);
    top[j] = diagonal;
    const std::size_t n = width_ - j - 1;
    double* sum = sums.data();
    for (std::size_t k = 0; k < n; ++k) sum[k] = first * top[j + 1 + k];
    for (std::size_t i = 0; i < n_rows; ++i) {
      const double* row = rows.data() + i * width_ + j;
      for (std::size_t k = 0; k < n; ++k) sum[k] += row[0] * row[1 + k];
    }
    for (std::size_t k = 0; k < n; ++k) top[j + 1 + k] -= factor * first * sum[k];
    for (std::size_t i = 0; i < n_rows; ++i) {
      double* row = rows.data() + i * width_ + j;
      subtract(factor * row[0], sum, row + 1, n);
    }
  }
}

double TriangularFit::residual() const { return std::abs(r_.back()); }

std::vector<double> TriangularFit::solution() const {
  const std::size_t n = n_unknowns();
  std::vector<double> x(n, 0.0);
  for (std::size_t j = n; j-- > 0;) {
    const double* row = r_.data() + j * width_;
    double rest = row[n];
    for (std::size_t k = j + 1; k < n; ++k) rest -= row[k] * x[k];
    x[j] = row[j] != 0 ? rest / row[j] : 0;
  }
  return x;
}

}  // namespace ringweave::detail::inline convolve
