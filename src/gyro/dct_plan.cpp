// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/dct_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/checked_cast.hpp"
#include "fft/plane_filter.hpp"
#include "gyro/gyro_checks.hpp"

namespace ringweave::detail::inline gyro {

DctPlan plan_dct(const GyroSpec& spec) {
  DctPlan plan{spec.grid, spec.radii, {}, {}};
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> known;
  for (const double rho : plan.radii) {
    if (is_beyond(plan.grid, rho)) {
      plan.filter_of.push_back(DctPlan::no_filter);
      continue;
    }
    const BesselAxes axes = bessel_axes(plan.grid, rho, spec.padding);
    const auto [found, is_new] =
        known.try_emplace({axes.x.length, axes.y.length}, ssize64(plan.filters));
    if (is_new) plan.filters.push_back(axes);
    plan.filter_of.push_back(found->second);
  }
  return plan;
}

std::int64_t DctPlan::multiplier_size(std::int64_t radius) const {
  const std::int64_t f = filter_of[to_size(radius)];
  return f == no_filter ? 0 : filters[to_size(f)].multiplier_size();
}

void DctPlan::make_multiplier(std::int64_t radius, double* multiplier) const {
  const std::int64_t f = filter_of[to_size(radius)];
  if (f == no_filter) return;
  const BesselAxes& axes = filters[to_size(f)];
  bessel_multiplier(axes, grid, radii[to_size(radius)], PlaneFilter(axes.x, axes.y).scale(),
                    multiplier);
}

double edge_indicator(const PlaneGrid& grid, ComponentView<const double> planes, int n_threads) {
  const std::int64_t n_x = grid.x.size;
  const std::int64_t n_y = grid.y.size;
  const bool x_ends = grid.x.boundary == PlaneBoundary::zero;
  const bool y_ends = grid.y.boundary == PlaneBoundary::zero;
  double indicator = 0;
  for (std::int64_t plane = 0; plane < planes.n_components(); ++plane) {
    const double* const values = planes.component(plane).data();
    double largest = 0;
    double edge = 0;
#pragma omp parallel for num_threads(n_threads) reduction(max : largest, edge)
    for (std::int64_t j = 0; j < n_y; ++j) {
      const double* const row = values + j * n_x;
      double of_row = 0;
      for (std::int64_t i = 0; i < n_x; ++i) of_row = std::max(of_row, std::abs(row[i]));
      largest = std::max(largest, of_row);
      if (x_ends) edge = std::max({edge, std::abs(row[0]), std::abs(row[n_x - 1])});
      if (y_ends && (j == 0 || j == n_y - 1)) edge = std::max(edge, of_row);
    }
    if (largest > 0) indicator = std::max(indicator, edge / largest);
  }
  return indicator;
}

}  // namespace ringweave::detail::inline gyro
