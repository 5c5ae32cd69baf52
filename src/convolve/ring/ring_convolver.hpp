// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "base/stage_timer.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/options.hpp"
#include "ringweave/times.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline convolve {

/// One rank's part of a convolution on one backend.
class RingConvolver {
 public:
  virtual ~RingConvolver() = default;

  /// Shapes as RingConvolution::convolve has checked them, both of one precision. Collective.
  virtual void convolve(AnyConstMapView<> in, AnyMapView<> out, StageTimes& times) = 0;
  /// Bytes handed to MPI in the last convolve().
  virtual std::int64_t halo_bytes_sent() const = 0;
};

}  // namespace ringweave::detail::inline convolve
