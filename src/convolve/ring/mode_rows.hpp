// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "convolve/ring/ring_convolution_plan.hpp"

namespace ringweave {

/// The highest degree of kernels whose multipoles fall below `error` (0: rounding) on a grid, 0
/// where they do not fall within the degrees the grid tells apart.
int highest_degree(const RingGrid& grid, const std::vector<RadialKernel>& kernels, double error);

/// Orders of a kernel without degrees above `degree`.
ModeRows band_limited_rows(const RingGrid& grid, int degree);
/// Orders of a run of rings of one length.
ModeRows circulant_rows(const RingGrid& grid, RingRange rings);
/// Error  UsageError where the rings' lengths do not grow towards the equator.
ModeRows plain_rows(const RingGrid& grid);

}  // namespace ringweave
