// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "gyro/cuda/edge_scaling.hpp"
#include "gyro/side_lines.hpp"
#include "gyro/side_sums.hpp"
#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::gpu {

/// Sizes and places of the sums over the outermost sources on a device. The work of a plane is laid
/// out as that of SideSums.
struct SideLayout {
  SideLines x;
  SideLines y;
  std::int64_t margin = 0;
  std::int64_t n_x = 0;
  std::int64_t n_rows = 0;     ///< own
  std::int64_t held_rows = 0;  ///< of a plane that is loaded
  std::int64_t first_own = 0;  ///< number of the held row that is the first own one
  std::int64_t first_row = 0;  ///< the first own row of the plane
  std::int64_t n_y = 0;        ///< rows of the plane
  std::int64_t corners = 0;    ///< in the work: [end of y][end of x][q][p]
  std::int64_t work_size = 0;
  bool has_corners = false;
  bool y_ends = false;
  /// Lines of sources that this rank has: of both ends of x, and of both ends of y.
  Array<RowRange, 2> x_sources;
  Array<RowRange, 2> y_sources;

  /// Returns the place of a number of a corner's source in the work.
  RINGWEAVE_HOST_DEVICE std::int64_t corner(std::int64_t end_x, std::int64_t end_y) const {
    return corners + (2 * end_y + end_x) * margin * margin;
  }
};

/// A SideLayout, and which held values lines have: rows and columns, -1 for zeros. Plain data.
struct SidePlan {
  explicit SidePlan(const SideSums& sides);

  SideLayout layout;
  // [position + reach]; of sources less those in corners.
  std::vector<std::int32_t> x_source_rows;
  std::vector<std::int32_t> x_target_rows;
  std::vector<std::int32_t> y_source_columns;
  std::vector<std::int32_t> y_target_columns;
  std::vector<std::int32_t> y_source_rows;  ///< [end][p]
  std::vector<std::int32_t> y_target_rows;  ///< [line of targets]
  std::vector<std::int32_t> line_of_row;    ///< [own row] its line of targets along y; -1: none
  EdgePlan held_edges;
  EdgePlan own_edges;
};

/// Weights of the sources in a corner, by target and by source. Plain data.
struct CornerLists {
  explicit CornerLists(const CornerTable& table);

  /// A target, counted from the ends of x and y.
  struct Target {
    std::int32_t a;
    std::int32_t b;
  };
  std::int64_t n_a = 0;  ///< targets [b][a] with b < n_b, a < n_a have sources
  std::int64_t n_b = 0;
  std::vector<std::int32_t> target_begin;  ///< [b][a], and the end
  std::vector<std::int32_t> sources;       ///< q * margin + p
  std::vector<double> source_weights;
  std::vector<std::int32_t> source_begin;  ///< [q][p], and the end
  std::vector<Target> targets;
  std::vector<double> target_weights;
};

}  // namespace ringweave::detail::gpu
