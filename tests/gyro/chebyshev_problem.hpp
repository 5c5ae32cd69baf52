// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/gyro_problem.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::test {

inline PlaneAxis chebyshev_axis(std::int64_t n, double first = -1, double last = 1) {
  return {n, first, last, PlaneNodes::chebyshev, PlaneBoundary::zero};
}

inline GyroSpec chebyshev_spec(const PlaneAxis& x, const PlaneAxis& y, std::vector<double> radii) {
  GyroSpec spec;
  spec.grid = {x, y};
  spec.radii = std::move(radii);
  spec.method = GyroMethod::chebyshev;
  return spec;
}

/// Coordinates of the targets along an axis: the nodes, or so many equispaced ones.
inline std::vector<double> target_places(const PlaneAxis& axis, std::int64_t targets) {
  const std::int64_t n = targets == 0 ? axis.size : targets;
  std::vector<double> places;
  for (std::int64_t i = 0; i < n; ++i) {
    const long double part = static_cast<long double>(i) / static_cast<long double>(n - 1);
    const long double unit =
        targets == 0 ? -std::cos(std::numbers::pi_v<long double> * part) : 2 * part - 1;
    places.push_back(
        static_cast<double>((static_cast<long double>(axis.first) + axis.last) / 2 +
                            (static_cast<long double>(axis.last) - axis.first) / 2 * unit));
  }
  return places;
}

template <class F>
std::vector<double> on_nodes(const std::vector<double>& x, const std::vector<double>& y,
                             const F& f) {
  std::vector<double> values;
  for (const double at_y : y) {
    for (const double at_x : x) values.push_back(f(at_x, at_y));
  }
  return values;
}

/// Loads planes, [plane][node], adds averages of radii with weights 1, 2, ... and returns the sums.
inline std::vector<double> averaged(const Scheme& scheme, Direction direction,
                                    const std::vector<double>& planes, std::int64_t n_planes,
                                    std::int64_t size_out, const std::vector<std::int64_t>& radii,
                                    int n_threads = 1) {
  const std::unique_ptr<SchemeWork> work = scheme.make_work(n_planes, n_threads);
  std::vector<double> out(to_size(n_planes * size_out));
  scheme.clear(*work, direction);
  scheme.load(*work, {planes.data(), n_planes, ssize64(planes) / n_planes});
  double weight = 0;
  for (const std::int64_t radius : radii) scheme.add(*work, radius, weight += 1);
  scheme.store(*work, {out.data(), n_planes, size_out}, Accumulate::overwrite);
  scheme.complete(*work);
  return out;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}
inline double largest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace ringweave::detail::test
