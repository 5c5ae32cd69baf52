// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ringweave/grid.hpp"
#include "ringweave/kernel.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::test {

/// Pixels of a ring-ordered map of the whole grid.
using Pixels = std::vector<double>;

/// Returns random pixels of unit variance.
Pixels random_pixels(const RingGrid& grid, unsigned which);

/// Returns s_p = sum_q w_q K(|n_p - n_q|) r_q, pixel by pixel.
Pixels convolve_directly(const RingGrid& grid, const RadialKernel& kernel, const Pixels& map);

/// Two maps of a field of spin.
struct SpinPixelMaps {
  Pixels q;
  Pixels u;
};
/// Returns the same for a field of spin: p = q + i u at n_q, or its conjugate for a kernel of that,
/// is carried to n_p along the great circle, turned by the bearings at both its ends, in long
/// double.
SpinPixelMaps convolve_spin_directly(const RingGrid& grid, const RadialKernel& kernel,
                                     const SpinPixelMaps& maps);

/// Runs the paper's basic algorithm by plain sums: rings keep the modes up to their own Nyquist,
/// the kernel is sampled on every ring as on the longest.
Pixels convolve_plainly(const RingGrid& grid, const RadialKernel& kernel, const Pixels& map);

/// Returns the rms of the difference over the rms of the expected values.
double relative_rms(const Pixels& found, const Pixels& expected);
double relative_max(const Pixels& found, const Pixels& expected);

}  // namespace ringweave::detail::test
