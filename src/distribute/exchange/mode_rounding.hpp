// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "base/host_device.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// A run of elements: its position in the source and in the target.
struct CopyRun {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

/// Copies runs of ring modes, shared among the threads.
void copy_modes(const std::complex<double>* from, std::complex<double>* to,
                std::span<const CopyRun> runs);
/// Copies runs of ring modes, rounded to single precision; either side may be floats or doubles.
/// `from` and `to` may be the same if both are doubles. Returns the largest magnitude of a real or
/// imaginary part (NaN counts as 0), for require_single_range().
template <class From, class To>
double round_modes(const std::complex<From>* from, std::complex<To>* to,
                   std::span<const CopyRun> runs);

// Conversions of single numbers, the same on the host and on a device.

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

/// Throws DataError when ring modes of this magnitude do not fit single precision.
void require_single_range(double largest);

}  // namespace ringweave::detail::inline distribute
