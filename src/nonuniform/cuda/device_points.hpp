// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "nonuniform/cuda/device_rows.hpp"
#include "nonuniform/device_point_sums.hpp"
#include "nonuniform/summed_points.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// Points on a device: their tables and sums, which are copied through the pinned memory of rows.
/// May outlive the rows. Not collective. Errors  ResourceError.
class DevicePoints {
 public:
  /// Copies tables of the points for their taps on some rows.
  DevicePoints(DeviceRows& rows, const SummedPoints& points);
  /// Waits for work that an error has left, before its memory is freed.
  ~DevicePoints() { stream_->finish(); }

  /// Computes [component][point] sums over the rows, in frames that are turned.
  void interpolate(DeviceRows& rows, ComponentView<double> sums);
  /// Overwrites the rows with the transpose; returns when the sums have been read.
  void spread(ComponentView<const double> sums, DeviceRows& rows);

 private:
  DeviceRows::Components<double> values() { return {values_.data(), n_components_, size_, size_}; }

  std::shared_ptr<const DeviceStream> stream_;
  std::int64_t n_components_;
  std::int64_t size_;  ///< points
  std::unique_ptr<DevicePointSums> sums_;
  DeviceBuffer<double> values_;  ///< [component][point]
};

}  // namespace ringweave::detail::inline nonuniform
