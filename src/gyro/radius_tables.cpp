// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/radius_tables.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline gyro {
namespace {

std::vector<double> acting_taps(const StencilTables& tables, std::int64_t n_x, std::int64_t n_y) {
  std::vector<double> taps;
  for (std::int64_t dy = 0; dy < n_y; ++dy) {
    const auto row = tables.interior.begin() + dy * (tables.reach_x + 1);
    taps.insert(taps.end(), row, row + n_x);
  }
  return taps;
}

bool has_tables(const StencilPlan& plan, std::int64_t radius) {
  return !plan.radii[to_size(radius)].is_beyond && plan.rows().own.size() > 0;
}

}  // namespace

RadiusTables make_radius_tables(const StencilPlan& plan, std::int64_t number, MultiplierForm form) {
  const StencilPlan::Radius& radius = plan.radii[to_size(number)];
  RadiusTables made;
  if (!has_tables(plan, number)) return made;
  made.sides = make_stencil_tables(plan.interpolation, radius.circle, plan.n_x, plan.n_y,
                                   plan.sides.x_boundary, plan.rows().boundary);
  if (radius.filter >= 0) {
    const StencilFilter& planned = plan.filters[to_size(radius.filter)];
    const std::int64_t n_x = std::min(made.sides.reach_x, planned.most_x) + 1;
    const std::int64_t n_y = std::min(made.sides.reach_y, planned.most_y) + 1;
    made.multiplier.allocate(multiplier_size(planned.x, planned.y, form));
    PlaneFilter(planned.x, planned.y)
        .multiplier_of_taps(acting_taps(made.sides, n_x, n_y), n_x, n_y, form,
                            std::span(made.multiplier.data(), to_size(made.multiplier.size())));
  }
  // An assignment of {} would keep the memory.
  made.sides.interior = std::vector<double>();
  return made;
}

StencilTableBytes side_table_bytes(const StencilPlan& plan, std::int64_t radius) {
  return stencil_table_bytes(plan.interpolation, plan.radii[to_size(radius)].circle, plan.n_x,
                             plan.n_y, plan.sides.x_boundary, plan.rows().boundary);
}

std::int64_t radius_making_bytes(const StencilPlan& plan, std::int64_t number) {
  if (!has_tables(plan, number)) return 0;
  const StencilPlan::Radius& radius = plan.radii[to_size(number)];
  const StencilTableBytes bytes = side_table_bytes(plan, number);
  if (radius.filter < 0) return bytes.interior + bytes.making;
  const StencilFilter& filter = plan.filters[to_size(radius.filter)];
  // The interior is copied without taps that never act. The multiplier is the transform of a whole
  // period: with spectrum and scratch less than four of it.
  const std::int64_t period = filter.x.length * filter.y.length;
  return std::max(bytes.making + bytes.interior,
                  2 * bytes.interior + 4 * period * std::int64_t{sizeof(double)});
}

}  // namespace ringweave::detail::inline gyro
