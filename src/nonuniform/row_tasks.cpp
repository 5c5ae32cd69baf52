// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/row_tasks.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "distribute/points/point_order.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

/// Costs as RowCosts::typical() has them: a tap row of a point is worth the FFT of a pixel.
std::int64_t cost_of(const PointTile& tile, const FineGrid& grid) {
  return tile.n_points * grid.theta_width + PointOrder::tile_rows * grid.n_columns;
}

std::int64_t reach(const FineGrid& grid) { return (grid.theta_width + 1) / 2; }

}  // namespace

std::vector<RowTask> cut_rows(std::span<const PointTile> tiles, const FineGrid& grid,
                              std::int64_t n_tasks) {
  std::int64_t total = 0;
  for (const PointTile& tile : tiles) total += cost_of(tile, grid);
  std::vector<RowTask> tasks;
  std::int64_t taken = 0;
  for (std::int64_t t = 0; t < ssize64(tiles); ++t) {
    const PointTile& tile = tiles[to_size(t)];
    // The next task begins where the ones before have their share of the work.
    if (tasks.empty() || taken >= total / n_tasks * ssize64(tasks)) {
      const std::int64_t first_row = tasks.empty() ? 0 : tile.first_row;
      if (!tasks.empty()) tasks.back().rows.end = first_row;
      tasks.push_back({t, t, {first_row, grid.n_rows}});
    }
    tasks.back().end_tile = t + 1;
    taken += cost_of(tile, grid);
  }
  return tasks;
}

RingRange rows_near(std::int64_t first_row, const FineGrid& grid) {
  return {std::max<std::int64_t>(first_row - reach(grid), 0),
          std::min(first_row + PointOrder::tile_rows + reach(grid), grid.n_rows)};
}

std::int64_t most_rows_near(const FineGrid& grid) {
  return PointOrder::tile_rows + 2 * reach(grid);
}

}  // namespace ringweave::detail::inline nonuniform
