// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/points/point_order.hpp"
#include "nonuniform/fine_grid.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline nonuniform {

/// Neighbouring rows that one thread goes through from the north to the south.
struct RowTask {
  // Of PointOrder::tiles, those whose points have their nearest row in the task.
  std::int64_t first_tile = 0;
  std::int64_t end_tile = 0;
  RingRange rows;  ///< those of the task; all tasks together have all rows of the grid
};

/// Cuts the rows of sorted points into about so many tasks of about equal work.
std::vector<RowTask> cut_rows(const PointOrder& points, const FineGrid& grid, std::int64_t n_tasks);

/// Returns all rows that points of a tile may touch.
RingRange rows_near(const TileRow& tile, const FineGrid& grid);

}  // namespace ringweave::detail::inline nonuniform
