// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "gyro/operator_rows.hpp"
#include "gyro/target_weights.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Throws unless a coordinate lies on its axis; a periodic one ends a spacing after its last node.
void check_on_axis(const PlaneAxis& axis, double coordinate, const char* name) {
  const double end = axis.last + (axis.boundary == PlaneBoundary::periodic ? axis.spacing() : 0);
  const double rounding = 1e-9 * axis.spacing();
  if (coordinate >= axis.first - rounding && coordinate <= end + rounding) return;
  throw UsageError(fmt::format("row of a gyroaverage: {} = {} lies outside of the grid, {} .. {}",
                               name, coordinate, axis.first, end));
}

void check_circle(const PlaneGrid& grid, double x, double y, double rho) {
  check_on_axis(grid.x, x, "x");
  check_on_axis(grid.y, y, "y");
  if (std::isfinite(rho) && rho >= 0) return;
  throw UsageError(
      fmt::format("row of a gyroaverage: radius {}; give a finite one that is not negative", rho));
}

}  // namespace

std::vector<GyroWeight> circle_row(const PlaneGrid& grid, GyroMethod method, double x, double y,
                                   double rho) {
  check_circle(grid, x, y, rho);
  switch (method) {
    case GyroMethod::bilinear:
    case GyroMethod::bicubic: {
      const auto interpolation = stencil_interpolation(grid, method, "row of a gyroaverage");
      return stencil_row(grid, interpolation, x, y, rho);
    }
    case GyroMethod::dct: return dct_row(grid, x, y, rho);
    case GyroMethod::chebyshev: return chebyshev_row(grid, x, y, rho);
  }
  throw UsageError("row of a gyroaverage: no such method");
}

}  // namespace ringweave
