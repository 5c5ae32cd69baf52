// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/cuda/block_types.hpp"
#include "fft/plane_filter.hpp"

namespace ringweave::detail::gpu {

/// Size of a batch of real FFTs of planes, [y][x].
struct PlaneFftSize {
  std::int64_t y_length = 0;
  std::int64_t x_length = 0;
  std::int64_t count = 0;

  std::int64_t n_values() const { return y_length * x_length; }  ///< of a plane
  std::int64_t n_numbers() const { return y_length * (x_length / 2 + 1); }
};

/// Tables of an axis of a filter of planes on a device. Plain data.
struct DevicePlaneAxis {
  explicit DevicePlaneAxis(const FilterAxis& axis);

  FilterAxis axis;
  std::vector<std::int32_t> sources;  ///< [element of the FFT] the value there; -1: zero
  std::vector<std::int32_t> places;   ///< [result] its element
  /// exp(i pi k / length), k <= length / 2, of a cosine axis.
  std::vector<Double2> turns;
};

}  // namespace ringweave::detail::gpu
