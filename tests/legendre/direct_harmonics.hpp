// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail {

/// Returns _s lambda_lm at one ring for l = 0..lmax (0 below max(m, |s|)), from Jacobi polynomials
/// in 113-bit arithmetic; _sY_lm = _s lambda_lm exp(i m phi). Any sign of `spin`; m >= 0. The
/// ring's position is derived from its sine next to the poles, from its cosine elsewhere.
std::vector<long double> direct_harmonics(int lmax, int m, int spin, const Ring& ring);

/// Real coefficients of one mode pair: Q = sum gradient E + i curl B, U = sum gradient B - i curl E
/// (HEALPix signs).
struct SpinMode {
  long double gradient;
  long double curl;
};
std::vector<SpinMode> direct_spin_modes(int lmax, int m, int spin, const Ring& ring);

}  // namespace ringweave::detail
