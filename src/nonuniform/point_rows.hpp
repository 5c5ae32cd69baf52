// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mode_view.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

class PlannedPoints;

/// Modes of the fine rows of a rank <-> sums over the taps of its points, on the host or on a
/// device. No allocation after planning. One call at a time. Collective on a device.
class PointRows {
 public:
  virtual ~PointRows() = default;

  /// Computes the sums of the points. Adds the seconds of "rows" and "points".
  virtual void interpolate(ModeView<const double> modes, AnyMapView<> values,
                           StageTimes& times) = 0;
  /// Applies the transpose. Overwrites the modes of all rows that points touch.
  virtual void spread(AnyConstMapView<> values, ModeView<double> modes, StageTimes& times) = 0;

  virtual std::int64_t bytes() const = 0;  ///< on the host
};

/// Makes rows, points and sums on this thread's device, which must hold them. Copies the points.
/// Points must outlive the object. Collective.
/// shape  of the FFTs of all rows of this rank
/// rings  [fine row] its ring of `shape`, -1: another rank's or none
/// Error  ResourceError; UsageError when this build lacks CUDA.
std::unique_ptr<PointRows> make_cuda_point_rows(const Communicator& comm, PlannedPoints& points,
                                                const RingFftShape& shape,
                                                const std::vector<std::int64_t>& rings);

}  // namespace ringweave::detail::inline nonuniform
