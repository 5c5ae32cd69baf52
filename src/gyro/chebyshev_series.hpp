// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "gyro/host/chebyshev_kernels.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Values at Chebyshev nodes <-> coefficients of the products T_p(x) T_q(y) through them: cosine
/// transforms of type I, as products of matrices. Matrices are [y][x] and [q][p], rows row_length()
/// apart, with anything in the padding. Constant after construction.
class ChebyshevSeries {
 public:
  ChebyshevSeries(std::int64_t n_x, std::int64_t n_y);

  std::int64_t row_length() const { return row_; }
  std::int64_t matrix_size() const { return row_ * n_y_; }  ///< doubles

  /// Replaces values by coefficients.
  /// scratch    matrix_size() doubles
  /// n_threads  results do not depend on it
  void to_coefficients(double* matrix, double* scratch, int n_threads = 1) const;
  /// Replaces weights of coefficients by weights of values: the transpose.
  void to_node_weights(double* matrix, double* scratch, int n_threads = 1) const;

 private:
  /// Matrices of one axis, c_p = sum_i forward[p][i] f_i.
  struct Axis {
    std::int64_t row = 0;
    HostBuffer<double> forward;     ///< [p][i]
    HostBuffer<double> transposed;  ///< [i][p]
  };
  static Axis make_axis(std::int64_t n);
  /// Multiplies all rows.
  void multiply(const ProductTerms& terms, double* out, int n_threads) const;

  std::int64_t n_x_;
  std::int64_t n_y_;
  std::int64_t row_;
  Axis x_;
  Axis y_;
};

}  // namespace ringweave::detail::inline gyro
