// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/stencil_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked_cast.hpp"
#include "gyro/circle_arcs.hpp"
#include "gyro/gyro_checks.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Returns the largest offset with a weight, along an axis of which the circle has the semi-axis r.
std::int64_t reach_of(Interpolation interpolation, double r) {
  // Beyond the limit no memory holds the arcs.
  const auto whole = static_cast<std::int64_t>(std::floor(std::min(rounded_radius(r), 1e12)));
  return whole + (interpolation == Interpolation::bilinear ? 1 : 3);
}

/// An axis, and the largest offset that acts.
struct PlannedAxis {
  FilterAxis axis;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

PlannedAxis whole_axis(PlaneBoundary boundary, std::int64_t n, std::int64_t margin,
                       std::int64_t reach, RowRange out, bool is_even) {
  PlannedAxis planned{{.size = n, .first_out = out.begin, .size_out = out.size()}};
  FilterAxis& axis = planned.axis;
  axis.is_mirrored = boundary == PlaneBoundary::mirror;
  if (axis.is_mirrored) {
    axis.length = 2 * (n - 1);
  } else if (boundary == PlaneBoundary::periodic) {
    axis.length = n;
  } else {
    // Whole sources are not farther from a target.
    planned.most = n - 1 - margin;
    const std::int64_t period = planned.most + std::min(reach, planned.most) + 1;
    axis.length = fast_length(std::max(n, period), is_even);
  }
  return planned;
}

/// The rows that are held and reach the own ones; none if there are no own ones.
RowRange reaching_rows(const HeldRows& rows, std::int64_t reach) {
  return {std::max(rows.own.begin - reach, rows.positions.begin),
          std::min(rows.own.end + reach, rows.positions.end)};
}

/// Returns the axis of some rows, which are held with the rows next to them.
PlannedAxis band_axis(const HeldRows& rows, std::int64_t reach) {
  const RowRange in = reaching_rows(rows, reach);
  PlannedAxis planned;
  planned.most =
      std::max({std::int64_t{0}, in.end - 1 - rows.own.begin, rows.own.end - 1 - in.begin});
  const std::int64_t period = planned.most + std::min(reach, planned.most) + 1;
  planned.axis = {.size = in.size(), .length = fast_length(std::max(in.size(), period))};
  planned.axis.first_out = rows.own.begin - in.begin;
  planned.axis.size_out = rows.own.size();
  return planned;
}

/// Tells whether x and y may be exchanged, in whole planes.
bool are_axes_alike(const StencilPlan& plan, const GridCircle& circle) {
  return plan.n_x == plan.n_y && plan.sides.x_boundary == plan.rows().boundary &&
         circle.x == circle.y;
}

StencilFilter filter_of(const StencilPlan& plan, const StencilPlan::Radius& radius) {
  const std::int64_t margin = plan.sides.margin;
  const HeldRows& rows = plan.rows();
  const PlannedAxis x =
      whole_axis(plan.sides.x_boundary, plan.n_x, margin, radius.reach_x, {0, plan.n_x}, true);
  // Of the same length the multiplier is symmetric.
  const PlannedAxis y = rows.is_whole ? whole_axis(rows.boundary, plan.n_y, margin, radius.reach_y,
                                                   rows.own, are_axes_alike(plan, radius.circle))
                                      : band_axis(rows, radius.reach_y);
  const std::int64_t first_row =
      rows.is_whole ? 0 : reaching_rows(rows, radius.reach_y).begin - rows.positions.begin;
  return {x.axis, y.axis, x.most, y.most, first_row};
}

/// Estimates the operations of one transform.
double cost_of(const StencilFilter& filter) {
  const auto of_fft = [](std::int64_t length) {
    const auto n = static_cast<double>(length);
    return n * (1 + std::log2(n));
  };
  return static_cast<double>(filter.y.size_out) * of_fft(filter.x.length) +
         static_cast<double>(filter.x.length) * of_fft(filter.y.length);
}

/// Cuts the radii, in ascending order, into groups that share the filter of their last.
void choose_filters(StencilPlan& plan) {
  std::vector<std::int64_t> order;
  for (std::int64_t r = 0; r < ssize64(plan.radii); ++r) {
    const StencilPlan::Radius& radius = plan.radii[to_size(r)];
    if (radius.circle.x > 0 && !radius.is_beyond) order.push_back(r);
  }
  const auto radius = [&](std::int64_t i) -> StencilPlan::Radius& {
    return plan.radii[to_size(order[to_size(i)])];
  };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return plan.radii[to_size(a)].circle.x < plan.radii[to_size(b)].circle.x;
  });
  // Calls with each field at every radius take 1 + n transforms a group, those with pairs 2 n.
  std::vector<double> least(order.size() + 1, std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> begin_of(order.size() + 1, 0);
  least[0] = 0;
  for (std::int64_t end = 1; end <= ssize64(order); ++end) {
    const double cost = cost_of(filter_of(plan, radius(end - 1)));
    for (std::int64_t begin = 0; begin < end; ++begin) {
      const double all = least[to_size(begin)] + cost * (1 + 3 * static_cast<double>(end - begin));
      if (all >= least[to_size(end)]) continue;
      least[to_size(end)] = all;
      begin_of[to_size(end)] = begin;
    }
  }
  for (std::int64_t end = ssize64(order); end > 0; end = begin_of[to_size(end)]) {
    for (std::int64_t i = begin_of[to_size(end)]; i < end; ++i)
      radius(i).filter = ssize64(plan.filters);
    plan.filters.push_back(filter_of(plan, radius(end - 1)));
  }
}

}  // namespace

MultiplierForm StencilPlan::form_of(const Radius& radius) const {
  if (radius.filter < 0) return MultiplierForm::whole;
  const StencilFilter& filter = filters[to_size(radius.filter)];
  const bool is_symmetric =
      are_axes_alike(*this, radius.circle) && filter.x.length == filter.y.length &&
      std::min(radius.reach_x, filter.most_x) == std::min(radius.reach_y, filter.most_y);
  return is_symmetric ? MultiplierForm::symmetric : MultiplierForm::whole;
}

std::int64_t StencilPlan::table_bytes(std::int64_t number) const {
  const Radius& radius = radii[to_size(number)];
  if (radius.is_beyond || rows().own.size() == 0) return 0;
  const std::int64_t of_sides =
      stencil_table_bytes(interpolation, radius.circle, n_x, n_y, sides.x_boundary, rows().boundary)
          .sides;
  if (radius.filter < 0) return of_sides;
  const StencilFilter& filter = filters[to_size(radius.filter)];
  return of_sides +
         multiplier_size(filter.x, filter.y, form_of(radius)) * std::int64_t{sizeof(double)};
}

FilterWindow StencilPlan::whole_sources(std::int64_t first_row) const {
  const std::int64_t m = sides.margin;
  FilterWindow window{0, n_x, 0, rows().size() - first_row};
  if (sides.x_ends()) {
    window.x_begin = m;
    window.x_end = n_x - m;
  }
  if (sides.y_ends()) {
    const std::int64_t first = rows().positions.begin + first_row;
    window.y_begin = std::max(window.y_begin, m - first);
    window.y_end = std::min(window.y_end, n_y - m - first);
  }
  return window;
}

StencilPlan plan_stencil(const GyroSpec& spec, RowRange own) {
  StencilPlan plan;
  plan.interpolation =
      spec.method == GyroMethod::bilinear ? Interpolation::bilinear : Interpolation::bicubic;
  const PlaneGrid& grid = spec.grid;
  plan.n_x = grid.x.size;
  plan.n_y = grid.y.size;
  SideGeometry& sides = plan.sides;
  sides.margin = margin_of(plan.interpolation);
  sides.x_boundary = grid.x.boundary;
  sides.n_x = plan.n_x;
  const bool y_ends = grid.y.boundary == PlaneBoundary::zero;
  sides.targets_x = sides.targets_y = sides.margin;
  for (const double rho : spec.radii) {
    StencilPlan::Radius radius{{rho / grid.x.spacing(), rho / grid.y.spacing()}};
    radius.is_beyond = is_beyond(grid, rho);
    plan.radii.push_back(radius);
    if (radius.is_beyond) continue;
    radius.reach_x = reach_of(plan.interpolation, radius.circle.x);
    radius.reach_y = reach_of(plan.interpolation, radius.circle.y);
    sides.targets_x = std::max(sides.targets_x, sides.margin + radius.reach_x);
    sides.targets_y = std::max(sides.targets_y, sides.margin + radius.reach_y);
    // Offsets beyond the grid never act.
    if (sides.x_ends()) radius.reach_x = std::min(radius.reach_x, plan.n_x - 1);
    if (y_ends) radius.reach_y = std::min(radius.reach_y, plan.n_y - 1);
    sides.reach_x = std::max(sides.reach_x, radius.reach_x);
    sides.reach_y = std::max(sides.reach_y, radius.reach_y);
    plan.radii.back() = radius;
  }
  sides.targets_x = std::min(sides.targets_x, plan.n_x);
  sides.targets_y = std::min(sides.targets_y, plan.n_y);
  plan.halo = y_ends ? std::max(sides.reach_y, sides.targets_y - 1) : sides.reach_y;
  sides.rows = held_rows(grid.y.boundary, plan.n_y, own, plan.halo);
  // Targets of corners are looked up along the ends of x, too.
  if (!sides.rows.is_whole) sides.reach_y = plan.halo;
  choose_filters(plan);
  return plan;
}

}  // namespace ringweave::detail::inline gyro
