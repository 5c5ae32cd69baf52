// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gyro/gyro_checks.hpp"
#include "gyro/interpolation.hpp"
#include "gyro/operator_rows.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Returns a coordinate, which may lie outside of its axis by rounding, inside. A periodic axis
/// ends a spacing after its last node. Error  UsageError when it lies outside
double on_axis(const PlaneAxis& axis, double coordinate, const char* name) {
  const double end = axis.last + (axis.boundary == PlaneBoundary::periodic ? axis.spacing() : 0);
  const double rounding = 1e-9 * axis.spacing();
  if (coordinate >= axis.first - rounding && coordinate <= end + rounding)
    return std::clamp(coordinate, axis.first, end);
  throw UsageError(fmt::format("row of a gyroaverage: {} = {} lies outside of the grid, {} .. {}",
                               name, coordinate, axis.first, end));
}

void check_radius(double rho) {
  if (std::isfinite(rho) && rho >= 0) return;
  throw UsageError(
      fmt::format("row of a gyroaverage: radius {}; give a finite one that is not negative", rho));
}

}  // namespace

std::vector<GyroWeight> circle_row(const PlaneGrid& grid, GyroMethod method, double x, double y,
                                   double rho, std::int64_t padding) {
  check_plane_grid(grid, method);
  x = on_axis(grid.x, x, "x");
  y = on_axis(grid.y, y, "y");
  check_radius(rho);
  GyroSpec spec;
  spec.grid = grid;
  spec.method = method;
  spec.radii = {rho};
  spec.padding = padding;
  check_padding(spec);
  switch (method) {
    case GyroMethod::bilinear: return stencil_row(grid, Interpolation::bilinear, x, y, rho);
    case GyroMethod::bicubic: return stencil_row(grid, Interpolation::bicubic, x, y, rho);
    case GyroMethod::dct: return dct_row(grid, x, y, rho, padding);
    case GyroMethod::chebyshev: return chebyshev_row(grid, x, y, rho);
  }
  throw UsageError("row of a gyroaverage: no such method");
}

}  // namespace ringweave
