// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/row_tasks.hpp"

#include <algorithm>

#include "nonuniform/tap_kernel.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

/// Points whose nearest row is in [begin, end), with those of the tiles around.
PointRange points_near(const PointOrder& points, std::int64_t begin, std::int64_t end) {
  // Taps reach half a width beyond the nearest row.
  static_assert(TapKernel::most_width <= 2 * PointOrder::tile_rows);
  PointRange range{points.size(), 0};
  for (const TileRow& tile : points.tiles) {
    if (tile.first_row < begin - PointOrder::tile_rows ||
        tile.first_row >= end + PointOrder::tile_rows)
      continue;
    range = {std::min(range.begin, tile.points.begin), std::max(range.end, tile.points.end)};
  }
  return range;
}

}  // namespace

std::vector<RowTask> cut_rows(const PointOrder& points, std::int64_t n_tasks) {
  // Also the rows of the tiles around are touched.
  constexpr std::int64_t step = PointOrder::tile_rows;
  struct Piece {
    std::int64_t first_row;
    std::int64_t n_points;
  };
  std::vector<Piece> pieces;
  for (const TileRow& tile : points.tiles) {
    const std::int64_t count = tile.points.end - tile.points.begin;
    for (const std::int64_t row : {tile.first_row - step, tile.first_row, tile.first_row + step}) {
      if (row < 0 || (!pieces.empty() && row < pieces.back().first_row)) continue;
      if (pieces.empty() || row > pieces.back().first_row) pieces.push_back({row, 0});
      pieces.back().n_points += count;
    }
  }
  const std::int64_t share = 3 * points.size() / std::max<std::int64_t>(n_tasks, 1);
  std::vector<RowTask> tasks;
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool continues = i > 0 && pieces[i].first_row == pieces[i - 1].first_row + step;
    if (!continues || taken >= share) {
      tasks.push_back({{pieces[i].first_row, pieces[i].first_row}, {}});
      taken = 0;
    }
    tasks.back().rows.end = pieces[i].first_row + step;
    taken += pieces[i].n_points;
  }
  for (RowTask& task : tasks) task.points = points_near(points, task.rows.begin, task.rows.end);
  return tasks;
}

}  // namespace ringweave::detail::inline nonuniform
