// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// Returns exp(2 pi i k / period), k < period.
HostBuffer<std::complex<double>> powers_of_unity(std::int64_t period);

/// Tables of an FFT whose length has only small factors (up to 43), in the format of
/// lane_fft-inl.hpp.
struct LaneTransform {
  explicit LaneTransform(std::int64_t length);
  std::int64_t length;
  std::vector<int> radices;
  HostBuffer<std::complex<double>> turns;  ///< exp(2 pi i k / length)
};

}  // namespace ringweave::detail::inline fft
