// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/target_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ringweave::detail::inline gyro {

AxisEnds ends_of(const PlaneAxis& axis) {
  const bool ends = axis.boundary == PlaneBoundary::zero;
  return {ends, ends, axis.size};
}

CellRange cells_of(const PlaneAxis& axis) {
  return axis.boundary == PlaneBoundary::zero ? CellRange{0, axis.size - 1} : CellRange::all();
}

namespace {

GridPoint::Position position_on(const PlaneAxis& axis, double coordinate) {
  const double spacing = axis.spacing();
  const double position = (coordinate - axis.first) / spacing;
  const double largest =
      std::max({std::abs(coordinate), std::abs(axis.first), std::abs(axis.last)});
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * largest / spacing;
  const double whole = std::round(position);
  if (std::abs(position - whole) <= rounding) return {static_cast<std::int64_t>(whole), 0};
  const double cell = std::floor(position);
  return {static_cast<std::int64_t>(cell), position - cell};
}

}  // namespace

TargetWeights::TargetWeights(const PlaneGrid& grid, Interpolation interpolation)
    : grid_(grid),
      weights_(interpolation, ends_of(grid.x), ends_of(grid.y)),
      box_{cells_of(grid.x), cells_of(grid.y)} {}

GridPoint TargetWeights::point(double x, double y) const {
  return {position_on(grid_.x, x), position_on(grid_.y, y)};
}

}  // namespace ringweave::detail::inline gyro
