// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "base/view.hpp"
#include "sphere/alm_layout.hpp"
#include "sphere/field_set.hpp"

namespace ringweave {

/// Real amplitudes b_l by which a radial kernel multiplies a_lm: t for spin 0, e and b for the
/// components of spin >= 1 fields. Zero beyond the tables.
struct Beam {
  std::vector<double> t;
  std::vector<double> e;
  std::vector<double> b;
};

/// Gaussian of the given full width at half maximum: t = exp(-l(l+1) sigma^2 / 2), e = b =
/// exp(-(l(l+1) - s^2) sigma^2 / 2) for spin s (2 gives healpy's extra exp(2 sigma^2)), 0 below l =
/// s.
Beam gaussian_beam(double fwhm_radians, int lmax, int spin = 2);
/// Elementwise product, to the longer table's length with zeros beyond the shorter.
Beam operator*(const Beam& a, const Beam& b);

/// a_lm *= b_l for every component. OpenMP over orders.
void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<double> alm);
void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<float> alm);

}  // namespace ringweave
