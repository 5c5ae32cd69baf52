// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "convolve/ring/ring_convolution_plan.hpp"
#include "perf_models/machine.hpp"

namespace ringweave::detail::inline convolve {

/// Predicted time of a convolution on rings.
struct RingConvolutionEstimate {
  Estimate stencil;
  Estimate sectors;
  Estimate ring_fft;
  Estimate modes;
  Estimate halo;
  Estimate total() const { return stencil + sectors + ring_fft + modes + halo; }
};

/// Returns the bytes this rank sends to others in one convolution. Not collective.
std::int64_t halo_bytes_to_send(const RingConvolutionPlan& plan);

/// Predicts one convolution on the rank with most work. Not collective.
RingConvolutionEstimate estimate_convolution(const RingConvolutionPlan& plan,
                                             const Machine& machine, int n_threads);

/// Predicts the time to make the plan and its tables. Not collective.
Estimate estimate_planning(const RingConvolutionPlan& plan, const Machine& machine);

}  // namespace ringweave::detail::inline convolve
