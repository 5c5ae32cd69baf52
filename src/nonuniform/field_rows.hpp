// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/mode_view.hpp"
#include "fft/ring_fft.hpp"
#include "nonuniform/fine_taps.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline nonuniform {

class ListedPoints;

/// All fine rows of a rank, from which many sets of points take their values, on the host or on a
/// device. One call at a time. Collective on a device.
class FieldRows {
 public:
  virtual ~FieldRows() = default;

  /// Overwrites the rows with those of some modes. Adds the seconds of "rows".
  virtual void set(ModeView<const double> modes, StageTimes& times) = 0;
  /// Computes the sums of some points over the rows. Adds the seconds of "points".
  virtual void interpolate(ListedPoints& points, StageTimes& times) = 0;

  virtual std::int64_t bytes() const = 0;  ///< on the host
};

/// Makes rows on this thread's device, which must hold them and, during set(), their modes. Tables
/// of points are made by their first interpolate() and stay on the device as long as the points.
/// Collective.
/// shape  of the FFTs of all rows of this rank
/// rings  [fine row] its ring of `shape`, -1: another rank's
/// Error  ResourceError on all ranks, also from the calls; UsageError when this build lacks CUDA.
std::unique_ptr<FieldRows> make_cuda_field_rows(const Communicator& comm,
                                                std::shared_ptr<const FineTaps> taps,
                                                const RingFftShape& shape,
                                                const std::vector<std::int64_t>& rings);

}  // namespace ringweave::detail::inline nonuniform
