// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <ringweave/alm.hpp>
#include <ringweave/spectra.hpp>
#include <ringweave/views.hpp>

namespace ringweave {

/// Gaussian a_lm of the given spectra for the orders of `layout`. Every coefficient is drawn from
/// Philox keyed by (seed, field, l, m), so a realisation is the same on any number of ranks and
/// threads and its low degrees do not change with lmax. One component: T from TT. Three components:
/// T, E, B correlated by TT, EE, BB, TE, EB, TB (Cholesky per degree). Two: E, B. E and B begin at
/// l = 2. Error  DataError when a covariance is not positive semidefinite, naming l.
void draw_alm(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
              AlmView<double> alm);
void draw_alm(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
              AlmView<float> alm);

/// The two standard normal numbers of one (seed, field, l, m); the imaginary part of m = 0 is not
/// used.
struct NormalPair {
  double re;
  double im;
};
NormalPair normal_pair(std::uint64_t seed, std::uint32_t field, int l, int m);

}  // namespace ringweave
