// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/points.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {

struct Directions {
  std::vector<double> theta;
  std::vector<double> phi;
  void add(double t, double p) {
    theta.push_back(t);
    phi.push_back(p);
  }
  std::int64_t size() const { return ssize64(theta); }
};

/// Points all over the sphere, from 1e-8 to 1e-2 rad from the poles, on the poles' meridians, and
/// with longitudes outside a circle. No two have the same colatitude.
inline Directions scattered_points(std::int64_t n, unsigned which = 1) {
  std::mt19937_64 random(which);
  std::uniform_real_distribution<double> unit(0, 1);
  Directions points;
  for (std::int64_t i = 0; i < n; ++i) {
    const double near = std::pow(10, -2 - 6 * unit(random));
    double theta = std::acos(1 - 2 * unit(random));
    if (i % 8 == 6) theta = near;
    if (i % 8 == 7) theta = std::numbers::pi - near;
    points.add(theta, (unit(random) - 0.3) * 4 * std::numbers::pi);
  }
  if (n > 2) points.theta[0] = 0;
  if (n > 2) points.theta[1] = std::numbers::pi;
  return points;
}

/// Some of the points: those with these numbers.
struct Dealt {
  std::vector<std::int64_t> numbers;
  std::vector<double> theta;
  std::vector<double> phi;
};

/// few_ranks: none on most.
enum class Deal { in_turn, all_on_last, backwards, few_ranks };

inline Dealt deal(const Communicator& comm, const Directions& points, Deal how) {
  Dealt mine;
  for (std::int64_t k = 0; k < points.size(); ++k) {
    const std::int64_t i = how == Deal::backwards ? points.size() - 1 - k : k;
    const std::int64_t owner = how == Deal::all_on_last ? comm.size() - 1
                               : how == Deal::few_ranks ? (i * 7 + 3) % ((comm.size() + 3) / 4)
                                                        : (i * 7 + 3) % comm.size();
    if (owner != comm.rank()) continue;
    mine.numbers.push_back(i);
    mine.theta.push_back(points.theta[to_size(i)]);
    mine.phi.push_back(points.phi[to_size(i)]);
  }
  return mine;
}

inline ComponentBuffer<double> of_numbers(const ComponentBuffer<double>& all,
                                          const std::vector<std::int64_t>& numbers) {
  ComponentBuffer<double> mine(all.n_components(), ssize64(numbers));
  for (std::int64_t c = 0; c < all.n_components(); ++c) {
    for (std::int64_t i = 0; i < mine.size(); ++i)
      mine.view().component(c)[i] = all.view().component(c)[numbers[to_size(i)]];
  }
  return mine;
}

inline PointSpec spec_of(int lmax, const std::vector<int>& spins, double epsilon, int mmax = -1) {
  PointSpec spec;
  spec.lmax = lmax;
  spec.mmax = mmax;
  spec.fields = FieldSet(spins);
  spec.epsilon = epsilon;
  return spec;
}

/// Normal values of unit variance at the points with these numbers.
inline ComponentBuffer<double> normal_values(const PointTransform& transform,
                                             const std::vector<std::int64_t>& numbers) {
  auto values = transform.make_values<double>();
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    for (std::int64_t i = 0; i < values.size(); ++i) {
      values.view().component(c)[i] =
          normal_pair(9, static_cast<std::uint32_t>(c), static_cast<int>(numbers[to_size(i)]), 0)
              .re;
    }
  }
  return values;
}

/// Checks that a rank's part of a_lm is the same bit by bit as in those of all orders.
inline void expect_same_alm(const AlmLayout& mine, const AlmBuffer<double>& alm,
                            const AlmBuffer<double>& all_alm) {
  const AlmLayout all(mine.lmax(), mine.mmax());
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    for (std::int64_t row = 0; row < mine.n_orders(); ++row) {
      const int m = mine.order(row);
      for (int l = m; l <= mine.lmax(); ++l) {
        ASSERT_EQ(alm.view().component(c)[mine.index(row, l)],
                  all_alm.view().component(c)[all.index(all.row_of(m), l)])
            << "l = " << l << ", m = " << m;
      }
    }
  }
}

/// A transform to rings of one pixel each, which are the points in ascending order of theta.
struct PointRings {
  PointRings(const PointSpec& spec, const Directions& points) : places(to_size(points.size())) {
    std::vector<std::size_t> order(places.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return points.theta[a] < points.theta[b]; });
    std::vector<RingSpec> rings;
    for (std::size_t i = 0; i < order.size(); ++i) {
      places[order[i]] = static_cast<std::int64_t>(i);
      rings.push_back({points.theta[order[i]], points.phi[order[i]], 1, 0});
    }
    TransformSpec rings_spec;
    rings_spec.grid = std::make_shared<const RingGrid>(RingGrid::from_rings(rings));
    rings_spec.lmax = spec.lmax;
    rings_spec.mmax = spec.mmax;
    rings_spec.fields = spec.fields;
    rings_spec.theta = ThetaRoute::direct;
    transform = std::make_unique<SphericalHarmonicTransform>(Communicator::self(), rings_spec);
  }
  std::vector<std::int64_t> places;  ///< [point] its ring
  std::unique_ptr<SphericalHarmonicTransform> transform;
};

/// Values of white a_lm at the points, [component][point].
inline ComponentBuffer<double> expected_values(const PointSpec& spec, const Directions& points) {
  PointRings rings(spec, points);
  const MapBuffer<double> map =
      synthesized(*rings.transform, random_alm(rings.transform->alm_layout(), spec.fields));
  ComponentBuffer<double> values(spec.fields.n_components(), points.size());
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    for (std::int64_t i = 0; i < points.size(); ++i)
      values.view().component(c)[i] = map.view().component(c)[rings.places[to_size(i)]];
  }
  return values;
}

}  // namespace ringweave::detail::test
