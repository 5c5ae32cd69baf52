// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ringweave::detail::inline sphere {

/// One node of a quadrature over z = cos(theta) in [-1, 1].
struct QuadratureNode {
  double theta = 0;  ///< radians; relative error to rounding near the north pole
  double cos_theta = 0;
  double sin_theta = 0;  ///< to rounding, also next to the poles
  double weight = 0;     ///< the weights sum to 2
};

/// Computes Gauss-Legendre nodes from north to south, exact up to degree 2 n - 1. O(n).
/// From   Stieltjes' series of P_n as in Hale & Townsend (2013), SIAM J. Sci. Comput. 35,
///        doi:10.1137/120889873
std::vector<QuadratureNode> gauss_legendre_nodes(std::int64_t n);

/// Computes nodes theta = pi k / (n - 1), n >= 2, exact up to degree n - 1. O(n^2), OpenMP: 0.3 s
/// of one core at n = 32769.
std::vector<QuadratureNode> clenshaw_curtis_nodes(std::int64_t n);

/// Computes nodes theta = pi (k + 1/2) / n, exact up to degree n - 1. O(n^2), OpenMP.
std::vector<QuadratureNode> fejer_nodes(std::int64_t n);

}  // namespace ringweave::detail::inline sphere
