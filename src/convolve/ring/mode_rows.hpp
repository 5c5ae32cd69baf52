// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "convolve/ring/ring_convolution_plan.hpp"

namespace ringweave {

/// Returns the highest degree of kernels whose multipoles fall below `error` (0: rounding) on a
/// grid; 0 if they do not within the degrees the grid resolves.
int highest_degree(const RingGrid& grid, const std::vector<RadialKernel>& kernels, double error);

/// Returns the rows for a kernel without degrees above `degree`.
ModeRows band_limited_rows(const RingGrid& grid, int degree);
/// Returns the rows for a run of rings of one length.
ModeRows circulant_rows(const RingGrid& grid, RingRange rings);
/// Returns the rows with orders up to each ring's Nyquist. Error  UsageError unless the rings'
/// lengths grow towards the equator.
ModeRows plain_rows(const RingGrid& grid);

}  // namespace ringweave
