// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/cuda/device_points.hpp"

namespace ringweave::detail::inline nonuniform {

DevicePoints::DevicePoints(DeviceRows& rows, const SummedPoints& points)
    : stream_(rows.stream()),
      n_components_(rows.rows().n_components()),
      size_(points.points.size),
      sums_(make_device_point_sums(rows.taps(), points, *stream_)),
      values_(n_components_ * size_) {}

void DevicePoints::interpolate(DeviceRows& rows, ComponentView<double> sums) {
  sums_->interpolate(rows.rows(), values());
  for (std::int64_t c = 0; c < n_components_; ++c) {
    rows.copies().to_host(values().component(c).data(), sums.component(c).data(),
                          size_ * std::int64_t{sizeof(double)});
  }
}

void DevicePoints::spread(ComponentView<const double> sums, DeviceRows& rows) {
  for (std::int64_t c = 0; c < n_components_; ++c) {
    rows.copies().to_device(sums.component(c).data(), values().component(c).data(),
                            size_ * std::int64_t{sizeof(double)});
  }
  sums_->spread(values(), rows.rows());
}

}  // namespace ringweave::detail::inline nonuniform
