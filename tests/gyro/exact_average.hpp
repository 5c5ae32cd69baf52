// SPDX-License-Identifier: GPL-3.0-or-later
// Averages of functions over circles, zero outside of a rectangle, by quadrature of their arcs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "base/gauss_legendre.hpp"

namespace ringweave::detail::test {

/// A rectangle with a hard edge, outside of which fields are zero.
struct EdgedRectangle {
  double x_first = -1;
  double x_last = 1;
  double y_first = -1;
  double y_last = 1;
};

/// Calls use(x, y, weight) for the nodes of the average over the circle of radius rho about (x, y):
/// Gauss-Legendre quadrature of the arcs inside, between crossings of the edge, quadrants and
/// `breaks`, which are angles in any turn.
template <class Real, class Use>
void for_each_on_circle(const EdgedRectangle& edge, Real x, Real y, Real rho,
                        std::vector<Real> breaks, const std::vector<QuadratureNode>& rule,
                        const Use& use) {
  constexpr Real pi = std::numbers::pi_v<Real>;
  for (const Real end : {Real{edge.x_first}, Real{edge.x_last}}) {
    if (std::abs(end - x) >= rho) continue;
    const Real angle = std::acos((end - x) / rho);
    breaks.insert(breaks.end(), {angle, -angle});
  }
  for (const Real end : {Real{edge.y_first}, Real{edge.y_last}}) {
    if (std::abs(end - y) >= rho) continue;
    const Real angle = std::asin((end - y) / rho);
    breaks.insert(breaks.end(), {angle, pi - angle});
  }
  breaks.insert(breaks.end(), {0, pi / 2, pi, -pi / 2});
  for (Real& angle : breaks) angle -= 2 * pi * std::floor(angle / (2 * pi));
  std::sort(breaks.begin(), breaks.end());
  breaks.push_back(breaks.front() + 2 * pi);
  for (std::size_t i = 1; i < breaks.size(); ++i) {
    const Real middle = (breaks[i - 1] + breaks[i]) / 2;
    const Real half = (breaks[i] - breaks[i - 1]) / 2;
    const Real at_x = x + rho * std::cos(middle);
    const Real at_y = y + rho * std::sin(middle);
    const bool is_inside =
        at_x >= edge.x_first && at_x <= edge.x_last && at_y >= edge.y_first && at_y <= edge.y_last;
    if (!is_inside || half == 0) continue;
    for (const QuadratureNode& node : rule) {
      const Real angle = middle + half * node.cos_theta;
      use(x + rho * std::cos(angle), y + rho * std::sin(angle), node.weight * half / (2 * pi));
    }
  }
}

/// Returns the average of f over the circle: see for_each_on_circle().
template <class Real, class F>
Real exact_average(const EdgedRectangle& edge, Real x, Real y, Real rho, std::vector<Real> breaks,
                   const std::vector<QuadratureNode>& rule, const F& f) {
  Real sum = 0;
  for_each_on_circle(edge, x, y, rho, std::move(breaks), rule,
                     [&](Real at_x, Real at_y, Real weight) { sum += weight * f(at_x, at_y); });
  return sum;
}

/// A function on [-1, 1]^2, and where its restriction to a circle is not smooth.
struct PlaneFunction {
  const char* name;
  double (*value)(double x, double y);
  /// Adds angles in any turn.
  void (*add_breaks)(double x, double y, double rho, std::vector<double>& breaks);
  /// The value where averages are found to rounding.
  long double (*precise_value)(long double x, long double y) = nullptr;
};

template <class Real>
Real bell(Real x, Real y) {
  return std::exp(-22 * (x * x + y * y));
}
inline double runge(double x, double y) {
  const double distance2 = (x - 0.2) * (x - 0.2) + (y + 0.5) * (y + 0.5);
  return (1 - x * x) * (1 - y * y) / (1 + 25 * distance2);
}
inline double horn(double x, double y) { return std::sqrt(std::hypot(x - 0.2, y + 0.5)); }
inline double ridge(double x, double y) {
  const double l = std::max(0.0, 0.75 - std::abs(x - y));
  return (1 - x * x) * (1 - y * y) * l * l * l * l * (4 * std::abs(x - y) + 1);
}

/// Adds multiples of pi / 8, so that few nodes resolve an arc.
inline void add_eighths(double, double, double, std::vector<double>& breaks) {
  for (int k = 0; k < 16; ++k) breaks.push_back(k * std::numbers::pi / 8);
}
/// Adds the direction of the horn's point: finer and finer arcs about it.
inline void add_horn_breaks(double x, double y, double rho, std::vector<double>& breaks) {
  add_eighths(x, y, rho, breaks);
  const double direction = std::atan2(-0.5 - y, 0.2 - x);
  breaks.push_back(direction);
  for (double away = 0.3; away > 1e-7; away /= 4) {
    breaks.push_back(direction - away);
    breaks.push_back(direction + away);
  }
}
/// Adds where x - y is 0 or +-0.75.
inline void add_ridge_breaks(double x, double y, double rho, std::vector<double>& breaks) {
  add_eighths(x, y, rho, breaks);
  for (const double difference : {-0.75, 0.0, 0.75}) {
    const double cosine = (difference - (x - y)) / (std::numbers::sqrt2 * rho);
    if (std::abs(cosine) >= 1) continue;
    breaks.push_back(-std::numbers::pi / 4 + std::acos(cosine));
    breaks.push_back(-std::numbers::pi / 4 - std::acos(cosine));
  }
}

inline constexpr PlaneFunction plane_functions[] = {{"bell", bell, add_eighths, bell},
                                                    {"runge", runge, add_eighths},
                                                    {"horn", horn, add_horn_breaks},
                                                    {"ridge", ridge, add_ridge_breaks}};

}  // namespace ringweave::detail::test
