// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "base/host_device.hpp"
#include "base/view.hpp"

namespace ringweave {

/// A run of elements at one place of a source and another of a target.
struct CopyRun {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

/// Copies runs of ring modes, shared among the threads, with what happens to the numbers in the
/// name. Those that round return the largest magnitude of a real or imaginary part (NaN counts as
/// 0), for require_single_range().
void copy_modes(const std::complex<double>* from, std::complex<double>* to,
                std::span<const CopyRun> runs);
double narrow(const std::complex<double>* from, std::complex<float>* to,
              std::span<const CopyRun> runs);
void widen(const std::complex<float>* from, std::complex<double>* to,
           std::span<const CopyRun> runs);
/// Rounds to single precision and stores in double; `from` and `to` may be the same.
double round_to_single(const std::complex<double>* from, std::complex<double>* to,
                       std::span<const CopyRun> runs);

// What happens to each number, the same on the host and on a device.

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

/// DataError when ring modes of this magnitude do not fit single precision.
void require_single_range(double largest);

}  // namespace ringweave
