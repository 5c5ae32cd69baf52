// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribute/points/point_order.hpp"
#include "nonuniform/fine_grid.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "ringweave/grid.hpp"

// Data read by the launches that sum over the taps of points: plain structs, computed on the host.
namespace ringweave::detail::gpu {

/// Place of the taps of a point: rows_around() and columns_around().
struct PointPlace {
  double theta_offset;
  double phi_offset;
  std::int32_t row;  ///< negative beyond the north pole
  std::int32_t column;
};

/// Rows onto which a block spreads points.
struct SpreadTile {
  static constexpr int n_rows = static_cast<int>(PointOrder::tile_rows);

  std::int64_t first_row = 0;
  std::int64_t first_visit = 0;
  std::int64_t n_visits = 0;
};

/// The points that touch a tile, itself or its image beyond a pole: row r of the sphere is row
/// `origin` + `step` r of the taps.
struct TileVisit {
  std::int64_t origin = 0;
  std::int64_t step = 1;         ///< -1 beyond a pole, where rows are turned
  std::int64_t first_begin = 0;  ///< in PointSumPlan::group_begins
};

/// Plan of the sums of a rank over taps, in both directions, made without a device.
struct PointSumPlan {
  static constexpr std::int64_t group_columns = PointOrder::group_columns;

  /// first_value  [fine row] its first value among those of a component; negative: another rank's
  /// points       in any order, which is that of the sums. Planning is quick and launches are fast
  ///              where neighbours are near each other on the sphere.
  /// Error        ResourceError for 2^32 points or more.
  PointSumPlan(const FineGrid& grid, std::span<const std::int64_t> first_value, PointSpan points);

  /// About the bytes of a point.
  static constexpr std::int64_t bytes_of_point = sizeof(PointPlace) + 2 * sizeof(std::uint32_t);

  std::int64_t n_groups() const { return (grid.n_columns + group_columns - 1) / group_columns; }

  FineGrid grid;
  std::vector<std::int64_t> first_value;
  std::vector<PointPlace> places;  ///< [point]
  std::vector<SpreadTile> tiles;   ///< those with rows of this rank
  std::vector<TileVisit> visits;
  /// [visit][group of columns where taps begin, and one more] first of its points in `visited`
  std::vector<std::int64_t> group_begins;
  std::vector<std::uint32_t> visited;

 private:
  /// Consecutive points, and the rows from the least to the greatest one that their taps have.
  struct Run {
    std::int64_t begin;
    std::int64_t end;
    RingRange rows;
  };

  void list_tiles();
  std::vector<Run> runs() const;
  void list_points();
  template <class Use>
  void for_each_touching(std::span<const Run> runs, RingRange rows, const Use& use) const;
};

}  // namespace ringweave::detail::gpu
