// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

struct FineRows;

/// Directions on the sphere, in radians: any theta in [0, pi], any finite phi. psi, an angle of the
/// instrument, is carried along; it is empty where points have none.
struct PointAngles {
  std::span<const double> theta;
  std::span<const double> phi;
  std::span<const double> psi = {};
};

/// Consecutive points of a rank.
struct PointRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Points whose nearest row is one of PointOrder::tile_rows.
struct TileRow {
  std::int64_t first_row = 0;  ///< a multiple of tile_rows
  PointRange points;
};

/// The points whose rows a rank sums, in the order of the sums: by tiles of rows from the north; in
/// one by groups of columns, where the taps begin; in a group by theta, phi and psi. So the order
/// follows from the points alone, whichever rank lists them and whichever sums them, and
/// neighbours in it mostly have the same rows and columns. Points at the same place are
/// interchangeable.
struct PointOrder {
  static constexpr std::int64_t tile_rows = 16;
  static constexpr std::int64_t group_columns = 8;

  HostBuffer<double> theta;
  HostBuffer<double> phi;
  HostBuffer<double> psi;            ///< empty where points have none
  std::vector<TileRow> tiles;        ///< those with points, from the north
  std::vector<PointRange> repeated;  ///< two or more points at one place

  std::int64_t size() const { return theta.size(); }
  std::int64_t bytes() const { return held_bytes(theta, phi, psi, tiles, repeated); }
};

/// Sorts points. OpenMP.
///
/// angles  [point][theta, phi or theta, phi, psi], n_angles of a point
/// place   [point] overwritten with its place in the order
/// Memory  sorting_bytes() a point besides angles and places, and 16 for the points of one row of
///         tiles on each thread
/// Error   UsageError when 2^32 points or more are in one row of tiles.
PointOrder sort_points(const FineRows& rows, HostBuffer<double> angles, std::int64_t n_angles,
                       HostBuffer<std::int64_t>& place);

/// Returns the most bytes of a point in sort_points(): two angles and a number by rows of tiles,
/// and the number of its row, or, with psi, the sorted angles. Without psi these take the memory of
/// the angles.
constexpr std::int64_t sorting_bytes(std::int64_t n_angles) {
  constexpr std::int64_t number = sizeof(double);
  return 3 * number + (n_angles == 2 ? std::int64_t{sizeof(std::int32_t)} : n_angles * number);
}

}  // namespace ringweave::detail::inline distribute
