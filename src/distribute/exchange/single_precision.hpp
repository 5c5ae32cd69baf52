// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"

// What a number of a ring mode goes through where modes travel in single precision: the same on the
// host and on a device.
namespace ringweave {

/// Numbers as they travel, and as they are stored after it.
template <class To, class From>
RINGWEAVE_HOST_DEVICE To through_single(From value) {
  return static_cast<To>(static_cast<float>(value));
}

/// The larger magnitude; NaN counts as 0.
RINGWEAVE_HOST_DEVICE double larger_magnitude(double largest, double value) {
  const double magnitude = value < 0 ? -value : value;
  return magnitude > largest ? magnitude : largest;
}

}  // namespace ringweave
