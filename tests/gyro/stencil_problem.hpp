// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/direct_gyroaverage.hpp"
#include "gyro/operator_rows.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::test {

using Plane = std::vector<double>;

inline Plane random_plane(std::int64_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Plane plane(to_size(size));
  for (double& value : plane) value = uniform(random);
  return plane;
}

inline GyroSpec stencil_spec(const PlaneGrid& grid, GyroMethod method, std::vector<double> radii) {
  GyroSpec spec;
  spec.grid = grid;
  spec.method = method;
  spec.radii = std::move(radii);
  return spec;
}

/// The first row of each part, and the end of the last.
inline std::vector<std::int64_t> equal_partition(std::int64_t n, std::int64_t n_parts) {
  std::vector<std::int64_t> cuts;
  for (std::int64_t part = 0; part <= n_parts; ++part) cuts.push_back(n * part / n_parts);
  return cuts;
}

/// A scheme of whole planes with a worker.
struct WholePlanes {
  WholePlanes(const GyroSpec& some, std::int64_t most_planes = 1, int n_threads = 1)
      : spec(some),
        scheme(make_stencil_scheme(spec, Communicator::self(), {0, spec.grid.y.size})),
        work(scheme->make_work(most_planes, n_threads)) {
    scheme->set_radii(0, ssize64(spec.radii));
  }

  /// Returns the average over one radius, or its transpose.
  Plane apply(Direction direction, const Plane& plane, std::int64_t radius) {
    Plane result(plane.size());
    scheme->clear(*work, direction);
    scheme->load(*work, {plane.data(), 1, ssize64(plane)});
    scheme->add(*work, radius, 1);
    scheme->store(*work, {result.data(), 1, ssize64(result)}, Accumulate::overwrite);
    return result;
  }

  GyroSpec spec;
  std::unique_ptr<Scheme> scheme;
  std::unique_ptr<SchemeWork> work;
};

/// Returns the average by single rows of the operator.
inline Plane averaged_by_rows(const GyroSpec& spec, double rho, const Plane& plane) {
  const PlaneGrid& grid = spec.grid;
  const Interpolation interpolation =
      spec.method == GyroMethod::bilinear ? Interpolation::bilinear : Interpolation::bicubic;
  Plane result;
  for (std::int64_t y = 0; y < grid.y.size; ++y) {
    for (std::int64_t x = 0; x < grid.x.size; ++x) {
      double sum = 0;
      for (const GyroWeight& w :
           stencil_row(grid, interpolation, grid.x.node(x), grid.y.node(y), rho))
        sum += w.weight * plane[to_size(w.y * grid.x.size + w.x)];
      result.push_back(sum);
    }
  }
  return result;
}

}  // namespace ringweave::detail::test
