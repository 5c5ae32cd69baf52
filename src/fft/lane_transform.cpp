// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/lane_transform.hpp"

#include <numbers>

#include "fft/host/ring_length.hpp"
#include "fft/unit_powers.hpp"

namespace ringweave::detail::inline fft {

HostBuffer<std::complex<double>> powers_of_unity(std::int64_t period) {
  const auto angle = 2 * std::numbers::pi_v<long double> / static_cast<long double>(period);
  HostBuffer<std::complex<double>> values(period);
  UnitPowers({{angle, period}}).expand(0, period, values.data());
  return values;
}

LaneTransform::LaneTransform(std::int64_t n)
    : length(n), radices(radices_of(n)), turns(powers_of_unity(n)) {}

}  // namespace ringweave::detail::inline fft
