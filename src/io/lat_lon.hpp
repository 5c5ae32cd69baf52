// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail::inline io {

/// The order of the rows and columns of a stored (latitude, longitude) array on the rings of a
/// grid: row r is a whole ring, column c one of its pixels.
struct LatLonOrder {
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;  ///< stored; one more than n_phi where the last repeats the first
  std::int64_t n_phi = 0;      ///< pixels of a ring
  std::int64_t first_ring = 0;
  std::int64_t ring_step = 1;  ///< 1: rows go from north to south; -1: from south to north
  std::int64_t first_pixel = 0;
  std::int64_t pixel_step = 1;  ///< 1: longitudes ascend; -1: they descend

  /// The rings that have a row.
  RingRange rings() const {
    return ring_step > 0 ? RingRange{first_ring, first_ring + n_rows}
                         : RingRange{first_ring - n_rows + 1, first_ring + 1};
  }
  std::int64_t row_of(std::int64_t ring) const { return (ring - first_ring) * ring_step; }
  /// Returns the column of a pixel, counted in its ring.
  std::int64_t column_of(std::int64_t pixel) const {
    const std::int64_t column = (pixel - first_pixel) * pixel_step % n_phi;
    return column < 0 ? column + n_phi : column;
  }
};

/// The grid of a (latitude, longitude) array.
struct LatLonGrid {
  std::shared_ptr<const RingGrid> grid;  ///< the full one, also where rows are only a part
  LatLonOrder order;
  std::vector<std::string> warnings;
};

/// Finds the grid whose rings lie at these latitudes, with pixels at these longitudes (degrees,
/// ascending or descending, accurate to a thousandth of their steps): equidistant with or without
/// the poles, all of its rings or consecutive ones; or all Gauss-Legendre nodes. Longitudes go
/// round once from any start; the last may repeat the first. Error  DataError about `where` for
/// anything else.
LatLonGrid find_lat_lon_grid(const std::string& where, std::span<const double> latitudes,
                             std::span<const double> longitudes);

/// Returns the latitude of a ring in degrees, without the rounding of the conversion on equidistant
/// grids.
double latitude_of(const RingGrid& grid, std::int64_t ring);

}  // namespace ringweave::detail::inline io
