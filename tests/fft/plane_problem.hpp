// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/plane_filter.hpp"

namespace ringweave::detail::test {

using Plane = std::vector<double>;

inline FilterAxis fourier(std::int64_t size, std::int64_t first, std::int64_t length,
                          std::int64_t first_out, std::int64_t size_out) {
  return {
      .size = size, .first = first, .length = length, .first_out = first_out, .size_out = size_out};
}
inline FilterAxis cosine(std::int64_t size, std::int64_t first, std::int64_t length,
                         std::int64_t first_out, std::int64_t size_out) {
  FilterAxis axis = fourier(size, first, length, first_out, size_out);
  axis.series = AxisSeries::cosine;
  return axis;
}
inline FilterAxis mirrored(std::int64_t size) {
  FilterAxis axis = fourier(size, 0, 2 * (size - 1), 0, size);
  axis.is_mirrored = true;
  return axis;
}

/// Padded, whole, mirrored and cosine axes of odd, even and prime lengths.
inline std::vector<FilterAxis> axes() {
  return {fourier(7, 2, 12, 1, 9),
          fourier(11, 0, 11, 0, 11),
          fourier(8, 0, 8, 0, 8),
          fourier(20, 9, 37, 2, 30),
          mirrored(6),
          mirrored(20),
          cosine(7, 3, 14, 2, 8),
          cosine(9, 3, 15, 0, 15),
          cosine(13, 0, 13, 0, 13),
          cosine(25, 6, 36, 5, 25),
          cosine(1, 0, 1, 0, 1),
          fourier(1, 0, 1, 0, 1),
          cosine(16, 7, 31, 0, 31),
          fourier(2, 1, 4, 0, 4),
          cosine(2, 0, 2, 0, 2)};
}

inline Plane random_plane(std::int64_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  Plane plane(to_size(size));
  for (double& value : plane) value = unit(random);
  return plane;
}

}  // namespace ringweave::detail::test
