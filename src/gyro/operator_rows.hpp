// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "gyro/interpolation.hpp"
#include "ringweave/gyroaverage.hpp"

// Rows of the operators of each method: circle_row() of arguments that were checked.
namespace ringweave::detail::inline gyro {

/// Bilinear or bicubic: arcs between grid lines, 8 Gauss-Legendre nodes in each. O(rho / h), and
/// O(n_nodes) to gather weights of the same node.
std::vector<GyroWeight> stencil_row(const PlaneGrid& grid, Interpolation interpolation, double x,
                                    double y, double rho);
/// The padded cosine transform times J0. padding  as GyroSpec::padding
std::vector<GyroWeight> dct_row(const PlaneGrid& grid, double x, double y, double rho,
                                std::int64_t padding);
/// Polynomials through Chebyshev nodes.
std::vector<GyroWeight> chebyshev_row(const PlaneGrid& grid, double x, double y, double rho);

}  // namespace ringweave::detail::inline gyro
