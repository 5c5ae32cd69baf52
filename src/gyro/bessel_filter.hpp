// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "fft/plane_filter.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// The axes in whose series an average over a circle is a product with J0.
struct BesselAxes {
  FilterAxis x;
  FilterAxis y;
  std::int64_t multiplier_size() const { return fft::multiplier_size(x, y, MultiplierForm::whole); }
};

/// Returns the axes for radius rho: cosines of the padded nodes where the boundary is zero, else
/// the Fourier series of the period.
/// padding  nodes at each end, at least, of axes with boundary zero; -1: the least for rho, half of
///          the radius over the spacing. The first mirror image of a source is then a radius away
///          from every target. Lengths are fast ones, so that there may be more.
BesselAxes bessel_axes(const PlaneGrid& grid, double rho, std::int64_t padding);

/// Computes J0(rho k) of all frequencies, [y][x], times `scale`. OpenMP.
void bessel_multiplier(const BesselAxes& axes, const PlaneGrid& grid, double rho, double scale,
                       double* multiplier);

}  // namespace ringweave::detail::inline gyro
