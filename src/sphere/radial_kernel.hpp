// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "sphere/beam.hpp"

namespace ringweave {

/// What a tabulated profile K(theta) multiplies a_lm with: K_l = 2 pi int K(theta) P_l(cos theta)
/// sin(theta) dtheta, so that convolved(n) = int K(angle(n, n')) map(n') dn'. Between its points
/// the profile is a monotone cubic, beyond the last one zero. The same K_l acts on T, E and B.
///
/// theta  radians, ascending from 0, at least four points, at most pi
/// value  K(theta) per steradian
/// Cost   O((points + lmax) lmax). Error  UsageError when the table is not as above.
/// From   Fritsch & Butland (1984), SIAM J. Sci. Stat. Comput. 5, 300 (the cubic; Boost.Math's
/// pchip)
Beam kernel_beam(std::span<const double> theta, std::span<const double> value, int lmax);

}  // namespace ringweave
