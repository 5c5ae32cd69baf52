// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "distribute/points/point_order.hpp"
#include "distribute/points/point_plan.hpp"

namespace ringweave::detail::test {

struct PointList {
  std::vector<double> theta;
  std::vector<double> phi;
  std::vector<double> psi;  ///< may be empty

  std::int64_t size() const { return static_cast<std::int64_t>(theta.size()); }
  PointAngles angles() const { return {theta, phi, psi}; }
  void add(double its_theta, double its_phi) {
    theta.push_back(its_theta);
    phi.push_back(its_phi);
  }
};

inline FineRows fine_rows(std::int64_t n_rows, std::int64_t n_columns, int n_taps) {
  return {std::make_shared<const RingGrid>(RingGrid::fejer(n_rows, n_columns)), n_taps,
          static_cast<int>(std::min<std::int64_t>(n_taps, n_columns))};
}

/// Even on the sphere between two colatitudes.
inline PointList random_points(std::int64_t n, double north, double south, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> z(std::cos(south), std::cos(north));
  std::uniform_real_distribution<double> phi(-10, 10);
  PointList points;
  for (std::int64_t i = 0; i < n; ++i) points.add(std::acos(z(random)), phi(random));
  return points;
}

struct PointCase {
  std::string name;
  PointList points;
};

inline std::vector<PointCase> point_cases() {
  constexpr double pi = std::numbers::pi;
  PointCase poles{"Poles", {}};
  for (int i = 0; i < 7; ++i) {
    poles.points.add(0, i);
    poles.points.add(pi, -i);
    poles.points.add(1e-9 * i, i);
  }
  PointCase one{"One", {}};
  one.points.add(1, 2);
  return {{"Sphere", random_points(200, 0, pi, 1)},
          {"NorthernCap", random_points(60, 0, 0.2, 2)},
          {"SouthernBand", random_points(50, 2.2, 2.4, 3)},
          {"Equator", random_points(40, 1.5, 1.6, 4)},
          std::move(poles),
          std::move(one),
          {"None", {}}};
}

}  // namespace ringweave::detail::test
