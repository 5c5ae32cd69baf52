// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// Computes circle_row() of method dct, with the least padding.
std::vector<GyroWeight> dct_row(const PlaneGrid& grid, double x, double y, double rho);
/// Computes circle_row() of method chebyshev.
std::vector<GyroWeight> chebyshev_row(const PlaneGrid& grid, double x, double y, double rho);

}  // namespace ringweave::detail::inline gyro
