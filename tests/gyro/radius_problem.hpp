// SPDX-License-Identifier: GPL-3.0-or-later
// Averages whose radius differs from node to node.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/direct_gyroaverage.hpp"
#include "gyro/gyro_problem.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::test {

/// Radii of nodes of rows [row_begin, row_end), and random fields and results.
struct RadiusProblem {
  PlaneGrid grid;
  GyroMethod method;
  std::int64_t n_fields;
  std::int64_t row_begin;
  std::int64_t row_end;
  std::vector<double> radii;
  std::vector<double> fields;
  std::vector<double> results;

  /// Makes the problem of all rows.
  RadiusProblem(const PlaneGrid& plane, GyroMethod of_method, std::int64_t n)
      : RadiusProblem(plane, of_method, n, 0, plane.y.size) {}
  RadiusProblem(const PlaneGrid& plane, GyroMethod of_method, std::int64_t n, std::int64_t begin,
                std::int64_t end)
      : grid(plane), method(of_method), n_fields(n), row_begin(begin), row_end(end) {
    const double diagonal = std::hypot(grid.x.last - grid.x.first, grid.y.last - grid.y.first);
    const std::vector<double> random = random_values(n_targets(), 7);
    for (std::int64_t k = 0; k < n_targets(); ++k) {
      const double some = std::abs(random[to_size(k)]);
      switch (k % 7) {
        case 0: radii.push_back(0); break;
        case 1: radii.push_back(grid.x.spacing() * static_cast<double>(1 + k % 4)); break;
        case 2: radii.push_back(grid.y.spacing() * some); break;
        case 3: radii.push_back(k % 2 == 0 ? 1e-9 : 1.2 * diagonal); break;
        default: radii.push_back(diagonal * some / 2);
      }
    }
    fields = random_values(n_fields * grid.n_nodes(), 8);
    results = random_values(n_fields * n_targets(), 9);
  }

  std::int64_t n_targets() const { return (row_end - row_begin) * grid.x.size; }

  template <class T = double>
  std::vector<double> average(Backend backend) const {
    const std::vector<T> given(fields.begin(), fields.end());
    std::vector<T> made(results.size());
    gyroaverage_with_radii<T>(grid, method, radii, row_begin, row_end,
                              {given.data(), n_fields, grid.n_nodes()},
                              {made.data(), n_fields, n_targets()}, backend);
    return {made.begin(), made.end()};
  }
  /// The numbers added to ones.
  template <class T = double>
  std::vector<double> transpose(Backend backend) const {
    const std::vector<T> given(results.begin(), results.end());
    std::vector<T> made(fields.size(), T{1});
    gyroaverage_with_radii_adjoint<T>(grid, method, radii, row_begin, row_end,
                                      {given.data(), n_fields, n_targets()},
                                      {made.data(), n_fields, grid.n_nodes()}, backend);
    return {made.begin(), made.end()};
  }
};

/// Rectangles of all boundaries.
inline std::vector<PlaneGrid> rectangles_for_radii() {
  std::vector<PlaneGrid> grids;
  for (const PlaneBoundary x : boundaries) {
    for (const PlaneBoundary y : boundaries)
      grids.push_back({plane_axis(12, x, 0, 11), plane_axis(11, y, -1, 6.8)});
  }
  return grids;
}

}  // namespace ringweave::detail::test
