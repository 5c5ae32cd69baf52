// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline app {

/// Returns the spectrum of T, E, B or P with itself.
Spectra::Name own_spectrum(char component);

/// Returns the variance of a measured C_l^XY about its expectation on the whole sky:
/// (C_XY^2 + C_XX C_YY) / (2 l + 1), which is 2 C_l^2 / (2 l + 1) for X = Y. 0 where a spectrum
/// that it needs is not known. On a part f_sky of the sky it is about 1 / f_sky times as large.
double cosmic_variance(const Spectra& expected, Spectra::Name name, int l);

}  // namespace ringweave::detail::inline app
