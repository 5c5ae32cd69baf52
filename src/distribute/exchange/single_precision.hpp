// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"

// The conversion of a ring mode's numbers for an exchange in single precision: the same on the host
// and on a device.
namespace ringweave {

/// Rounds to single precision and returns the result as a To.
template <class To, class From>
RINGWEAVE_HOST_DEVICE To through_single(From value) {
  return static_cast<To>(static_cast<float>(value));
}

/// Returns the larger magnitude; NaN counts as 0.
RINGWEAVE_HOST_DEVICE double larger_magnitude(double largest, double value) {
  const double magnitude = value < 0 ? -value : value;
  return magnitude > largest ? magnitude : largest;
}

}  // namespace ringweave
