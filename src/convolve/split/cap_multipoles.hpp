// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convolve/split/triangular_fit.hpp"

namespace ringweave::detail::inline convolve {

/// The multipoles (P x)_l of kernels sum_k x_k p_k of a spin on a cap, for l = spin..last, in
/// blocks of degrees.
///
/// On a cap d^l_ss, for spin 0 P_l, changes slowly with l, like a function of band width theta_cut:
/// within a block of m degrees the multipoles of all kernels are polynomials in l of a degree of
/// about m theta_cut / 2. A block keeps their coefficients, a fifth of its degrees at 4 degrees,
/// and a fit to all its degrees costs as much less.
class CapMultipoles {
 public:
  /// Block borders lie between `border` and the next degree.
  CapMultipoles(double theta_cut, int n_polynomials, int border, int last, int spin = 0);

  struct Block {
    int first = 0;
    int size = 0;
    std::size_t basis = 0;       ///< in bases_
    std::vector<double> rows{};  ///< [polynomial in l][polynomial on the cap]
    int end() const { return first + size; }
  };
  int n_polynomials() const { return n_polynomials_; }
  const std::vector<Block>& blocks() const { return blocks_; }

  /// Rows, [row][n + 1], of a fit equal to the rows weight_l (P x)_l = weight_l target_l of all
  /// degrees of a block.
  /// weight, target  [l - first]; an empty target is 0
  std::vector<double> fit_rows(const Block& block, std::span<const double> weight,
                               std::span<const double> target) const;

  /// M = 4 pi I - sum_l (2l+1) a_l a_l^T with (P x)_l = a_l x: x^T M x is the part of a kernel
  /// beyond the last degree, sum_{l > last} (2l+1) (P x)_l^2. [n][n]
  std::vector<double> beyond_last() const;

 private:
  void cut_into_blocks(double theta_cut, int border, int last, int spin);
  void project(double theta_cut, int spin);

  int n_polynomials_;
  std::vector<Columns> bases_;  ///< orthonormal polynomials in l, one set for each block size
  std::vector<Block> blocks_;
};

}  // namespace ringweave::detail::inline convolve
