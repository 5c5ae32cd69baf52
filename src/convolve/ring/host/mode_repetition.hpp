// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/view.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"

namespace ringweave {

/// Fills the modes of halo rings that did not travel: from mode_orders() on they repeat those
/// below, R_(n + m) = R_m exp(-i n phi0), R_(n - m) = conj(R_m) exp(-i n phi0).
///
/// modes  as plan.rows() lays them out, [position][map]
void repeat_halo_modes(const RingConvolutionPlan& plan, ModeView<double> modes);

}  // namespace ringweave
