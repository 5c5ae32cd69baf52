// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline nonuniform {

/// Fine samples of the sphere and how many of them give the value of a point: row r is at theta =
/// pi (r + 1/2) / n_rows, column q at phi = 2 pi q / n_columns. Plain data for host and device.
struct FineGrid {
  std::int64_t n_rows;     ///< at least theta_width
  std::int64_t n_columns;  ///< even, at least 2 phi_width
  int theta_width;         ///< taps
  int phi_width;
};

/// The taps of a point in one direction: samples first, first + 1, ..., and the offset of
/// TapPolynomials. A position next to a sample may round to the one or the other side, so the
/// offset may pass its bounds by rounding.
struct TapPlace {
  std::int64_t first;
  double offset;
};

/// Returns the taps around a position.
RINGWEAVE_HOST_DEVICE TapPlace place_of(const FinePosition& position, int width) {
  const double start = position.offset - 0.5 * width;
  return {first_tap(position, width), 2 * (std::ceil(start) - start) - 1};
}

/// Returns the rows around theta, 0 <= theta <= pi, from -theta_width / 2 on. Rows beyond a pole
/// are those of folded_row().
RINGWEAVE_HOST_DEVICE TapPlace rows_around(const FineGrid& grid, double theta) {
  return place_of(row_position(theta, grid.n_rows), grid.theta_width);
}

/// Returns the columns around any phi, 0 <= first < n_columns; they may go on beyond the end.
RINGWEAVE_HOST_DEVICE TapPlace columns_around(const FineGrid& grid, double phi) {
  TapPlace place = place_of(column_position(phi, grid.n_columns), grid.phi_width);
  if (place.first < 0) place.first += grid.n_columns;
  return place;
}

}  // namespace ringweave::detail::inline nonuniform
