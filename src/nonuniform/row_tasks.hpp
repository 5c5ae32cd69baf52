// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nonuniform/fine_grid.hpp"
#include "nonuniform/planned_points.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline nonuniform {

/// Neighbouring rows that one thread goes through from the north to the south.
struct RowTask {
  // The tiles that begin in it.
  std::int64_t first_tile = 0;
  std::int64_t end_tile = 0;
  RingRange rows;  ///< those of the task; all tasks together have all rows of the grid
};

/// Cuts the rows of tiles of points into about so many tasks of about equal work.
std::vector<RowTask> cut_rows(std::span<const PointTile> tiles, const FineGrid& grid,
                              std::int64_t n_tasks);

/// Returns all rows that points may touch whose nearest row is one of PointOrder::tile_rows.
RingRange rows_near(std::int64_t first_row, const FineGrid& grid);
/// Returns the most rows of rows_near().
std::int64_t most_rows_near(const FineGrid& grid);

}  // namespace ringweave::detail::inline nonuniform
