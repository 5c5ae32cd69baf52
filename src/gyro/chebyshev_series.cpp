// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/chebyshev_series.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr std::int64_t rows_of_task = 8;

/// cos(pi j / intervals) for j < 2 * intervals, to rounding and symmetric to the last digit.
std::vector<double> cosines_of(std::int64_t intervals) {
  const std::int64_t period = 2 * intervals;
  const auto angle = [&](std::int64_t j) {
    return std::numbers::pi * static_cast<double>(j) / static_cast<double>(intervals);
  };
  std::vector<double> cosines(to_size(period));
  for (std::int64_t j = 0; j < period; ++j) {
    std::int64_t k = std::min(j, period - j);
    const double sign = 2 * k > intervals ? -1 : 1;
    k = std::min(k, intervals - k);
    // A sine of the rest to a quarter turn keeps its digits.
    const double missing = std::numbers::pi * static_cast<double>(intervals - 2 * k) /
                           static_cast<double>(2 * intervals);
    cosines[to_size(j)] = sign * (4 * k < intervals ? std::cos(angle(k)) : std::sin(missing));
  }
  return cosines;
}

}  // namespace

ChebyshevSeries::Axis ChebyshevSeries::make_axis(std::int64_t n) {
  Axis axis;
  axis.row = padded_length(n);
  axis.forward.allocate(n * axis.row);
  axis.transposed.allocate(n * axis.row);
  std::fill(axis.forward.begin(), axis.forward.end(), 0.0);
  std::fill(axis.transposed.begin(), axis.transposed.end(), 0.0);
  const std::int64_t intervals = n - 1;
  const std::vector<double> cosines = cosines_of(intervals);
  const auto half_at_ends = [&](std::int64_t i) { return i == 0 || i == intervals ? 0.5 : 1.0; };
  for (std::int64_t p = 0; p < n; ++p) {
    for (std::int64_t i = 0; i < n; ++i) {
      // Node i is -cos(pi i / intervals), hence the sign of odd degrees.
      const double sign = p % 2 == 0 ? 1 : -1;
      const double entry = sign * 2 / static_cast<double>(intervals) * half_at_ends(p) *
                           half_at_ends(i) * cosines[to_size(p * i % (2 * intervals))];
      axis.forward[p * axis.row + i] = entry;
      axis.transposed[i * axis.row + p] = entry;
    }
  }
  return axis;
}

ChebyshevSeries::ChebyshevSeries(std::int64_t n_x, std::int64_t n_y)
    : n_x_(n_x), n_y_(n_y), row_(padded_length(n_x)), x_(make_axis(n_x)), y_(make_axis(n_y)) {}

void ChebyshevSeries::to_coefficients(double* matrix, double* scratch, int n_threads) const {
  multiply({n_y_, y_.forward.data(), 1, y_.row, matrix, row_}, scratch, n_threads);
  multiply({n_x_, scratch, 1, row_, x_.transposed.data(), x_.row}, matrix, n_threads);
}

void ChebyshevSeries::to_node_weights(double* matrix, double* scratch, int n_threads) const {
  multiply({n_y_, y_.forward.data(), y_.row, 1, matrix, row_}, scratch, n_threads);
  multiply({n_x_, scratch, 1, row_, x_.forward.data(), x_.row}, matrix, n_threads);
}

void ChebyshevSeries::multiply(const ProductTerms& terms, double* out, int n_threads) const {
#pragma omp parallel for num_threads(n_threads) if (n_threads > 1)
  for (std::int64_t begin = 0; begin < n_y_; begin += rows_of_task) {
    ProductTerms of_rows = terms;
    of_rows.a += begin * terms.a_row;
    multiply_matrices(of_rows, std::min(rows_of_task, n_y_ - begin), row_, out + begin * row_,
                      row_);
  }
}

}  // namespace ringweave::detail::inline gyro
