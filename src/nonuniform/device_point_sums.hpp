// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/summed_points.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// The sums over the taps of points in device memory, which has all rows of a rank. Calls are
/// enqueued on a stream and return at once; device errors are reported when it is synchronized. The
/// order of all additions follows from the points and their rows alone.
class DevicePointSums {
 public:
  template <class T>
  using Components = MapView<T, MemorySpace::device>;

  virtual ~DevicePointSums() = default;

  /// Overwrites values with sums over the rows around each point, as interpolate_points(), in
  /// frames that are turned. rows    [component][value] values  [component][point]
  virtual void interpolate(Components<const double> rows, Components<double> values) = 0;
  /// Overwrites the rows with the transpose, and values with those in frames turned back.
  virtual void spread(Components<double> values, Components<double> rows) = 0;

  virtual std::int64_t device_bytes() const = 0;
};

/// Makes the sums on this thread's device, where taps and points are copied once; calls are
/// enqueued on `stream`, which must outlive them. Error  UsageError when this build has no CUDA,
/// ResourceError from the device.
std::unique_ptr<DevicePointSums> make_device_point_sums(const RowTaps& taps,
                                                        const SummedPoints& points,
                                                        const DeviceStream& stream);

}  // namespace ringweave::detail::inline nonuniform
