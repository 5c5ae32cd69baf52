// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/device_plane_plan.hpp"

#include <algorithm>
#include <complex>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/unit_powers.hpp"
#include "fft/device_plane_filter.hpp"
#include "fft/host/plane_lines.hpp"

namespace ringweave::detail {
namespace gpu {

DevicePlaneAxis::DevicePlaneAxis(const FilterAxis& of) : axis(of) {
  const auto narrow = [](std::int64_t i) {
    return checked_cast<std::int32_t>(i, "length of a plane's FFT");
  };
  sources.assign(to_size(axis.length), -1);
  for (std::int64_t i = 0; i < axis.size; ++i) {
    sources[to_size(fft_element(axis, axis.first + i))] = narrow(i);
    if (axis.is_mirrored && i > 0 && i < axis.size - 1)
      sources[to_size(axis.length - i)] = narrow(i);
  }
  for (std::int64_t i = 0; i < axis.size_out; ++i)
    places.push_back(narrow(fft_element(axis, axis.first_out + i)));
  if (axis.series == AxisSeries::fourier) return;
  const std::int64_t count = axis.length / 2 + 1;
  const auto angle = std::numbers::pi_v<long double> / static_cast<long double>(axis.length);
  const UnitPowers powers({{angle, count}});
  for (std::int64_t k = 0; k < count; ++k) {
    const std::complex<double> turn = powers.value(0, k);
    turns.push_back({turn.real(), turn.imag()});
  }
}

}  // namespace gpu

inline namespace fft {

std::int64_t device_plane_filter_bytes(std::span<const PlaneFilterAxes> axes,
                                       std::int64_t most_planes) {
  std::int64_t values = 0;
  for (const PlaneFilterAxes& of : axes)
    values = std::max(values, checked_product(of.x.length, of.y.length, "nodes of padded planes"));
  return checked_product(std::min(most_planes, planes_together) * std::int64_t{sizeof(double)},
                         values, "bytes of padded planes");
}

}  // namespace fft
}  // namespace ringweave::detail
