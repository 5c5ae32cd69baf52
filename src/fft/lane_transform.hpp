// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/unit_powers.hpp"
#include "fft/host/ring_length.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// Tables of an FFT whose length has only small factors (up to 43), in the format of
/// lane_fft-inl.hpp.
struct LaneTransform {
  explicit LaneTransform(std::int64_t n)
      : length(n), radices(radices_of(n)), turns(powers_of_unity(n)) {}
  std::int64_t length;
  std::vector<int> radices;
  HostBuffer<std::complex<double>> turns;  ///< exp(2 pi i k / length)
};

}  // namespace ringweave::detail::inline fft
