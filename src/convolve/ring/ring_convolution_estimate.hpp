// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "convolve/ring/ring_convolution_plan.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline convolve {

/// Predicted time of a convolution on rings.
struct RingConvolutionEstimate {
  Estimate stencil;
  Estimate sectors;  ///< on a device all sums over pixels
  Estimate ring_fft;
  Estimate modes;
  Estimate halo;
  Estimate copies;  ///< to a device and back
  Estimate total() const { return stencil + sectors + ring_fft + modes + halo + copies; }
};

/// The place where the ranks of a convolution compute.
struct ConvolutionPlace {
  Backend backend = Backend::host;
  int n_threads = 1;        ///< of a rank
  int ranks_of_device = 1;  ///< that share one
};

/// Returns the bytes this rank sends to others in one convolution. Not collective.
std::int64_t halo_bytes_to_send(const RingConvolutionPlan& plan);

/// Predicts one convolution on the rank with most work, on the host where a machine has no costs of
/// a device. Not collective.
RingConvolutionEstimate estimate_convolution(const RingConvolutionPlan& plan,
                                             const Machine& machine, const ConvolutionPlace& place);

/// Predicts the time to make the plan and its tables. Not collective.
Estimate estimate_planning(const RingConvolutionPlan& plan, const Machine& machine);

}  // namespace ringweave::detail::inline convolve
