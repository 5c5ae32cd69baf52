// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/points/compact_indices.hpp"
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
  std::int64_t size() const { return end - begin; }
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

/// Angles of a number of points, each `stride` doubles after that of the point before. psi is null
/// where points have none.
struct StridedAngles {
  const double* theta;
  const double* phi;
  const double* psi;
  std::int64_t stride;
  std::int64_t size;
};

/// Sorts points. OpenMP.
///
/// place   [point] overwritten with its place in the order
/// Memory  sorting_bytes()
/// Error   UsageError when 2^32 points or more are in one row of tiles.
PointOrder sort_points(const FineRows& rows, const StridedAngles& angles, CompactIndices& place);

/// Bytes of a point whose row of tiles is being sorted.
inline constexpr std::int64_t bytes_of_point_in_work = 40;

/// Returns the most bytes in sort_points() besides angles: those sorted, two indices, and those of
/// the threads.
/// n_in_work  points of the largest rows of tiles, one for each thread
inline std::int64_t sorting_bytes(std::int64_t n_points, std::int64_t n_angles,
                                  std::int64_t n_in_work) {
  return n_points * n_angles * std::int64_t{sizeof(double)} +
         2 * CompactIndices::bytes_of(n_points, n_points) + n_in_work * bytes_of_point_in_work;
}

}  // namespace ringweave::detail::inline distribute
