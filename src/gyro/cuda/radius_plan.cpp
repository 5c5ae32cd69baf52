// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/cuda/radius_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "gyro/arc_weights.hpp"
#include "gyro/axis_positions.hpp"
#include "gyro/target_weights.hpp"

namespace ringweave::detail::gpu {
namespace {

DerivativeTaps derivative_taps(const PlaneAxis& axis) {
  // Functions of a cell: the derivatives at its begin and its end.
  constexpr std::size_t at_begin = 2;
  constexpr std::size_t at_end = 3;
  const AxisCardinals cardinals(Interpolation::bicubic, ends_of(axis));
  DerivativeTaps made;
  std::vector<std::vector<DerivativeTaps::Tap>> of_node(to_size(axis.size));
  for (std::int64_t i = 0; i < axis.size; ++i) {
    const bool is_last = axis.boundary == PlaneBoundary::zero && i == axis.size - 1;
    const std::int64_t cell = is_last ? i - 1 : i;
    const CellCardinals& of_cell = cardinals.of(cell);
    for (std::int64_t k = 0; k < DerivativeTaps::of_node; ++k) {
      const std::int64_t node = node_at(axis.boundary, axis.size, cell + of_cell.first + k);
      const double weight = of_cell.share[to_size(k)][is_last ? at_end : at_begin];
      made.taps.push_back({node, weight});
      of_node[to_size(node)].push_back({i, weight});
    }
  }
  for (const std::vector<DerivativeTaps::Tap>& taps : of_node) {
    made.begin.push_back(ssize64(made.transposed));
    made.transposed.insert(made.transposed.end(), taps.begin(), taps.end());
  }
  made.begin.push_back(ssize64(made.transposed));
  return made;
}

std::int64_t own_cells(const PlaneAxis& axis) {
  return axis.boundary == PlaneBoundary::periodic ? axis.size : axis.size - 1;
}

}  // namespace

RadiusPlan::RadiusPlan(const PlaneGrid& plane, Interpolation interpolates,
                       std::span<const double> radii_of, std::int64_t row_begin,
                       std::int64_t row_end)
    : interpolation(interpolates),
      grid{plane.x.size,
           plane.y.size,
           plane.x.boundary,
           plane.y.boundary,
           plane.x.spacing(),
           plane.y.spacing(),
           {cells_of(plane.x), cells_of(plane.y)},
           own_cells(plane.x),
           own_cells(plane.y),
           row_begin,
           row_end,
           0,
           make_arc_rule()},
      radii(radii_of) {
  double most = 0;
  for (std::int64_t row = 0; row < row_end - row_begin; ++row) {
    const auto of_row = radii.subspan(to_size(row * grid.n_x), to_size(grid.n_x));
    const auto [least, largest] = std::minmax_element(of_row.begin(), of_row.end());
    rows.push_back({*least, *largest});
    most = std::max(most, *largest);
  }
  grid.reach_y = static_cast<std::int64_t>(std::ceil(std::min(most / grid.spacing_y, 1e12))) + 1;
  if (plane.y.boundary == PlaneBoundary::zero) grid.reach_y = std::min(grid.reach_y, grid.n_y);
  if (interpolation == Interpolation::bicubic) {
    x_taps = derivative_taps(plane.x);
    y_taps = derivative_taps(plane.y);
  }
}

}  // namespace ringweave::detail::gpu
