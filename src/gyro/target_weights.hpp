// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

#include "gyro/arc_weights.hpp"
#include "gyro/axis_positions.hpp"
#include "gyro/circle_arcs.hpp"
#include "gyro/interpolation.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// Returns where an axis ends with zero, and the cells that circles pass through.
AxisEnds ends_of(const PlaneAxis& axis);
CellRange cells_of(const PlaneAxis& axis);

/// Weights of nodes in averages about points of a grid, for any boundaries.
class TargetWeights {
 public:
  TargetWeights(const PlaneGrid& grid, Interpolation interpolation);

  /// Returns the point (x, y); one that is a node but for rounding is that node.
  GridPoint point(double x, double y) const;

  /// Calls visit(ArcWeights) for every arc of the circle of radius rho about a point that is not
  /// outside of an axis which ends with zero. Nodes beyond other axes: see wrapped_x().
  template <class Visit>
  void visit(const GridPoint& centre, double rho, const Visit& visit) const {
    weights_.visit(rounded_circle({rho / grid_.x.spacing(), rho / grid_.y.spacing()}), centre, box_,
                   visit);
  }

  /// Returns the node of the grid that has the value of node i, for any i of a periodic or mirrored
  /// axis.
  std::int64_t wrapped_x(std::int64_t i) const {
    return node_at(grid_.x.boundary, grid_.x.size, i);
  }
  std::int64_t wrapped_y(std::int64_t i) const {
    return node_at(grid_.y.boundary, grid_.y.size, i);
  }

 private:
  PlaneGrid grid_;
  CircleWeights weights_;
  CellBox box_;
};

/// Nodes of the grid that an arc has weights for.
struct ArcIndices {
  std::array<std::int64_t, most_cell_nodes> x{};
  std::array<std::int64_t, most_cell_nodes> y{};

  ArcIndices(const TargetWeights& targets, const ArcWeights& arc) {
    for (std::size_t i = 0; i < arc.x_count; ++i)
      x[i] = targets.wrapped_x(arc.x_first + static_cast<std::int64_t>(i));
    for (std::size_t j = 0; j < arc.y_count; ++j)
      y[j] = targets.wrapped_y(arc.y_first + static_cast<std::int64_t>(j));
  }
};

}  // namespace ringweave::detail::inline gyro
