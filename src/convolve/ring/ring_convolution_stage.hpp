// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/stage_timer.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline convolve {

/// Convolves the maps of a rank as a plan says, on the host or on a device. One call at a time per
/// object.
class RingConvolutionStage {
 public:
  virtual ~RingConvolutionStage() = default;

  /// Convolves as RingConvolution::convolve; sizes are right. Collective.
  virtual void convolve(AnyConstMapView<> in, AnyMapView<> out) = 0;

  /// Returns the bytes that were sent to other ranks in the last call.
  virtual std::int64_t halo_bytes_sent() const = 0;
  virtual StageTimes& times() = 0;
};

/// Makes a stage; `plan` must outlive it. Collective.
/// Error  ResourceError; UsageError when this build lacks CUDA.
std::unique_ptr<RingConvolutionStage> make_host_ring_convolution(const Communicator& comm,
                                                                 const RingConvolutionPlan& plan);
std::unique_ptr<RingConvolutionStage> make_cuda_ring_convolution(const Communicator& comm,
                                                                 const RingConvolutionPlan& plan);

}  // namespace ringweave::detail::inline convolve
