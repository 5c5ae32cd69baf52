// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ringweave::detail::inline base {

/// One node of a quadrature over z = cos(theta) in [-1, 1].
struct QuadratureNode {
  double theta = 0;  ///< radians; relative error to rounding near the north pole
  double cos_theta = 0;
  double sin_theta = 0;  ///< to rounding, also next to the poles
  double weight = 0;     ///< the weights sum to 2
};

/// Computes Gauss-Legendre nodes from north to south, exact up to degree 2 n - 1. O(n), OpenMP.
/// From   Stieltjes' series of P_n as in Hale & Townsend (2013), SIAM J. Sci. Comput. 35,
///        doi:10.1137/120889873
std::vector<QuadratureNode> gauss_legendre_nodes(std::int64_t n);

/// Fills the southern half from the northern one; an odd middle node lies exactly on the equator.
void mirror_nodes(std::vector<QuadratureNode>& nodes);

}  // namespace ringweave::detail::inline base
