// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/points/point_order.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline nonuniform {

/// Rows that one thread adds points to, and all points that may touch them.
struct RowTask {
  RingRange rows;
  PointRange points;
};

/// Cuts the rows of sorted points into about so many tasks of equal work.
std::vector<RowTask> cut_rows(const PointOrder& points, std::int64_t n_tasks);

}  // namespace ringweave::detail::inline nonuniform
