// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ringweave::detail::test {

/// A matrix stored by columns.
using Matrix = std::vector<std::vector<double>>;

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Returns the x that minimizes |A x - b| without singular values below a fraction of the largest.
/// One-sided Jacobi rotations: slow and simple.
inline std::vector<double> solve_by_singular_values(Matrix a, const std::vector<double>& b,
                                                    double least) {
  const std::size_t n = a.size();
  Matrix v(n, std::vector<double>(n, 0.0));
  for (std::size_t k = 0; k < n; ++k) v[k][k] = 1;
  const auto rotate = [](std::vector<double>& p, std::vector<double>& q, double c, double s) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double first = p[i];
      p[i] = c * first - s * q[i];
      q[i] = s * first + c * q[i];
    }
  };
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool is_done = true;
    for (std::size_t j = 0; j + 1 < n; ++j) {
      for (std::size_t k = j + 1; k < n; ++k) {
        const double jj = dot(a[j], a[j]);
        const double kk = dot(a[k], a[k]);
        const double jk = dot(a[j], a[k]);
        if (std::abs(jk) <= 1e-15 * std::sqrt(jj * kk)) continue;
        is_done = false;
        const double zeta = (kk - jj) / (2 * jk);
        const double t = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double c = 1 / std::hypot(1, t);
        rotate(a[j], a[k], c, c * t);
        rotate(v[j], v[k], c, c * t);
      }
    }
    if (is_done) break;
  }
  std::vector<double> square(n);
  for (std::size_t k = 0; k < n; ++k) square[k] = dot(a[k], a[k]);
  const double largest = *std::max_element(square.begin(), square.end());
  std::vector<double> x(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    if (square[k] <= least * least * largest) continue;
    const double part = dot(a[k], b) / square[k];
    for (std::size_t i = 0; i < n; ++i) x[i] += part * v[k][i];
  }
  return x;
}

/// Returns b - A x.
inline std::vector<double> remainder(const Matrix& a, const std::vector<double>& x,
                                     std::vector<double> b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t i = 0; i < b.size(); ++i) b[i] -= a[k][i] * x[k];
  }
  return b;
}

}  // namespace ringweave::detail::test
