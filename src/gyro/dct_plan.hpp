// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "gyro/bessel_filter.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// The filters of a list of radii, as plain data: radii share one where they need as much padding.
struct DctPlan {
  static constexpr std::int64_t no_filter = -1;

  PlaneGrid grid;
  std::vector<double> radii;
  std::vector<BesselAxes> filters;
  std::vector<std::int64_t> filter_of;  ///< of every radius; no_filter: averages are zero

  bool is_mirrored() const {
    return grid.x.boundary == PlaneBoundary::mirror || grid.y.boundary == PlaneBoundary::mirror;
  }
  /// Returns the numbers of the multiplier of a radius.
  std::int64_t multiplier_size(std::int64_t radius) const;
  /// Computes it, times scale() of its filter. OpenMP.
  void make_multiplier(std::int64_t radius, double* multiplier) const;
};
DctPlan plan_dct(const GyroSpec& spec);

/// Returns the largest ratio, of some planes, of the largest value at edges where the boundary is
/// zero to the largest value.
double edge_indicator(const PlaneGrid& grid, ComponentView<const double> planes, int n_threads = 1);

}  // namespace ringweave::detail::inline gyro
