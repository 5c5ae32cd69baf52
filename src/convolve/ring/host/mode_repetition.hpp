// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/view.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"

namespace ringweave {

/// Fills the modes of halo rings that were not exchanged: from mode_orders() on they repeat the
/// lower ones, R_(n + m) = R_m exp(-i n phi0), R_(n - m) = conj(R_m) exp(-i n phi0).
///
/// modes  in the layout of plan.rows(), [position][map]
void repeat_halo_modes(const RingConvolutionPlan& plan, ModeView<double> modes);

}  // namespace ringweave
