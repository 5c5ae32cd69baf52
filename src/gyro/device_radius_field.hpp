// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "gyro/interpolation.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

// Averages with a radius for each node on this thread's device; fields and results are on the host.
// Errors: UsageError when this build has no CUDA, ResourceError from the device.
namespace ringweave::detail::inline gyro {

/// The nodes of rows [row_begin, row_end) of a grid and their radii, that were checked.
struct RadiusTargets {
  const PlaneGrid& grid;
  Interpolation interpolation;
  std::span<const double> radii;  ///< [row][x]
  std::int64_t row_begin;
  std::int64_t row_end;
};

/// results  overwritten
template <class T>
void average_on_device(const RadiusTargets& targets, ComponentView<const T> fields,
                       ComponentView<T> results, const GyroProgress& progress);
/// fields  added to
template <class T>
void transpose_on_device(const RadiusTargets& targets, ComponentView<const T> results,
                         ComponentView<T> fields, const GyroProgress& progress);

}  // namespace ringweave::detail::inline gyro
