// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace ringweave::detail::inline nonuniform {

/// A number of twice the precision, high + low.
struct TwoDoubles {
  double high;
  double low;
};

/// Fine samples of the sphere and how points lie among them: row r is at theta = pi (r + 1/2) /
/// n_rows, column q at phi = 2 pi q / n_columns. Plain data for host and device.
struct FineGrid {
  std::int64_t n_rows;     ///< at least theta_width
  std::int64_t n_columns;  ///< even, at least 2 phi_width
  int theta_width;         ///< taps
  int phi_width;
  TwoDoubles rows_per_radian;
  TwoDoubles columns_per_radian;
};

FineGrid make_fine_grid(std::int64_t n_rows, std::int64_t n_columns, int theta_width,
                        int phi_width);

/// The taps of a point in one direction: samples first, first + 1, ..., and the offset of
/// TapPolynomials. A position next to a sample may round to the one or the other side, so the
/// offset may pass its bounds by rounding.
struct TapPlace {
  std::int64_t first;
  double offset;
};

/// Returns the taps around a position among samples, first = ceil(position - width / 2).
RINGWEAVE_HOST_DEVICE TapPlace place_of(TwoDoubles position, int width) {
  const double half = 0.5 * width;
  const double start = position.high - half;
  const double low = position.low + ((position.high - start) - half);
  const double first = std::ceil(start);
  return {static_cast<std::int64_t>(first), 2 * ((first - start) - low) - 1};
}

/// Returns angle * per_radian, without the rounding of one double.
RINGWEAVE_HOST_DEVICE TwoDoubles position_of(TwoDoubles angle, TwoDoubles per_radian) {
  const double high = angle.high * per_radian.high;
  const double rounding = std::fma(angle.high, per_radian.high, -high);
  return {high, rounding + (angle.high * per_radian.low + angle.low * per_radian.high)};
}

namespace pi_words {
inline constexpr double high = 0x1.921fb54442d18p+1;
inline constexpr double low = 0x1.1a62633145c07p-53;
}  // namespace pi_words

/// Returns the rows around theta, 0 <= theta <= pi, from -theta_width / 2 on, counted from the
/// nearer pole, so that points next to either pole are exact. Rows beyond a pole are those of
/// row_of().
RINGWEAVE_HOST_DEVICE TapPlace rows_around(const FineGrid& grid, double theta) {
  const bool is_south = theta > pi_words::high / 2;
  const TwoDoubles from_pole =
      is_south ? TwoDoubles{pi_words::high - theta, pi_words::low} : TwoDoubles{theta, 0};
  TwoDoubles position = position_of(from_pole, grid.rows_per_radian);
  position.high -= 0.5;
  const TapPlace place = place_of(position, grid.theta_width);
  if (!is_south) return place;
  return {grid.n_rows - grid.theta_width - place.first, -place.offset};
}

/// Returns the columns around any phi, 0 <= first < n_columns; they may go on beyond the end.
RINGWEAVE_HOST_DEVICE TapPlace columns_around(const FineGrid& grid, double phi) {
  const double turns = std::rint(phi / (2 * pi_words::high));
  const TwoDoubles reduced{std::fma(-turns, 2 * pi_words::high, phi), -turns * 2 * pi_words::low};
  TapPlace place = place_of(position_of(reduced, grid.columns_per_radian), grid.phi_width);
  if (place.first < 0) place.first += grid.n_columns;
  return place;
}

/// A row of the grid, and whether it stands for one beyond a pole: then its columns are shifted by
/// half a turn, and components of odd spin change their sign.
struct FineRow {
  std::int64_t row;
  bool is_beyond_pole;
};

/// Returns the row that holds row r, -n_rows <= r < 2 n_rows, of the circle through both poles.
RINGWEAVE_HOST_DEVICE FineRow row_of(const FineGrid& grid, std::int64_t r) {
  if (r < 0) return {-1 - r, true};
  if (r >= grid.n_rows) return {2 * grid.n_rows - 1 - r, true};
  return {r, false};
}

}  // namespace ringweave::detail::inline nonuniform
