// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "base/backend.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// One rank's part of a convolution on one backend.
class RingConvolver {
 public:
  virtual ~RingConvolver() = default;

  /// Shapes as RingConvolution::convolve has checked them, both of one precision. Collective.
  virtual void convolve(AnyConstMapView<> in, AnyMapView<> out, StageTimes& times) = 0;
  /// Bytes handed to MPI in the last convolve().
  virtual std::int64_t halo_bytes_sent() const = 0;
};

}  // namespace ringweave
