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

  /// Shapes have been checked by RingConvolution::convolve. Collective.
  virtual void convolve(MapView<const double> in, MapView<double> out, StageTimes& times) = 0;
  virtual void convolve(MapView<const float> in, MapView<float> out, StageTimes& times) = 0;
  /// Returns the bytes passed to MPI in the last convolve().
  virtual std::int64_t halo_bytes_sent() const = 0;
};

}  // namespace ringweave
