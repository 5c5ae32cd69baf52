// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ringweave::detail::inline sphere {

/// Polynomials in z = cos(theta) that are orthonormal over the cap theta <= theta_cut (integral of
/// p_j p_k over its solid angle = 1 where j = k, else 0) and vanish at its edge together with their
/// first derivative. A kernel made of them ends smoothly, so its multipoles fall at least like
/// l^(-7/2).
///
/// p_k(u) = (1 - u)^2 J_k(1 - 2 u), u = (chord / chord at the edge)^2 in [0, 1], J_k Jacobi
/// polynomials of the weight (1 - u)^4.
/// Error  orthonormal to a few 1e-14 for sizes up to 1000
class CapPolynomials {
 public:
  static constexpr int edge_order = 2;

  /// theta_cut  radians, more than 0, at most most_theta_cut; size  at least 1
  CapPolynomials(double theta_cut, int size);
  static constexpr double most_theta_cut = 1.5;

  double theta_cut() const { return theta_cut_; }
  int size() const { return static_cast<int>(below_.size()); }
  double chord_squared_cut() const { return chord_squared_cut_; }

  /// Computes value[k] = p_k(u), k = 0..size-1.
  void evaluate(double u, std::span<double> value) const;
  /// Returns sum_k coefficient[k] p_k(u); at most size() coefficients.
  double sum(std::span<const double> coefficient, double u) const;

  /// Returns how many polynomials represent, on a cap, all kernels with degrees up to lmax.
  static int size_for(double theta_cut, int lmax);

 private:
  /// Calls take(k, p_k(u)) for k = 0..n-1.
  template <class Take>
  void each(double u, std::size_t n, Take&& take) const;

  double theta_cut_;
  double chord_squared_cut_;
  double first_;  ///< J_0
  /// s J_k = below[k+1] J_{k+1} + middle[k] J_k + below[k] J_{k-1}
  std::vector<double> middle_;
  std::vector<double> below_;    ///< [k], k = 1..size
  std::vector<double> inverse_;  ///< of below_
};

/// Nodes of a quadrature over a cap, in u = (chord / chord at the edge)^2.
struct CapNodes {
  std::vector<double> u;              ///< ascending
  std::vector<double> chord_squared;  ///< 2 (1 - cos(theta))
  std::vector<double> weight;         ///< steradians
};

/// Computes nodes exact to rounding for products of two cap polynomials below `size`, and of one
/// with P_l of degree up to lmax.
CapNodes cap_nodes(double theta_cut, int size, double lmax);

}  // namespace ringweave::detail::inline sphere
