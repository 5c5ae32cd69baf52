// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/gauss_legendre.hpp"

namespace ringweave::detail::test {

/// A rectangle with a hard edge, outside of which fields are zero.
struct EdgedRectangle {
  long double x_first = -1;
  long double x_last = 1;
  long double y_first = -1;
  long double y_last = 1;
};

/// Calls use(t, x, y, weight) for the nodes of the average over the circle of radius rho about (x,
/// y): Gauss-Legendre quadrature of the arcs inside between crossings of the edge and `breaks`.
template <class Use>
void for_each_on_circle(const EdgedRectangle& edge, long double x, long double y, long double rho,
                        std::vector<long double> breaks, const std::vector<QuadratureNode>& rule,
                        const Use& use) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  const auto cross = [&](long double ratio, bool is_sine) {
    if (std::abs(ratio) >= 1) return;
    const long double t = is_sine ? std::asin(ratio) : std::acos(ratio);
    breaks.push_back(t);
    breaks.push_back(is_sine ? pi - t : -t);
  };
  if (rho > 0) {
    for (const long double end : {edge.x_first, edge.x_last}) cross((end - x) / rho, false);
    for (const long double end : {edge.y_first, edge.y_last}) cross((end - y) / rho, true);
  }
  for (int k = 0; k < 4; ++k) breaks.push_back(k * pi / 2);
  for (long double& t : breaks) t -= 2 * pi * std::floor(t / (2 * pi));
  std::sort(breaks.begin(), breaks.end());
  breaks.push_back(breaks.front() + 2 * pi);
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
    const long double middle = (breaks[i] + breaks[i + 1]) / 2;
    const long double half = (breaks[i + 1] - breaks[i]) / 2;
    const long double at_x = x + rho * std::cos(middle);
    const long double at_y = y + rho * std::sin(middle);
    if (at_x < edge.x_first || at_x > edge.x_last || at_y < edge.y_first || at_y > edge.y_last)
      continue;
    if (half < 1e-17L) continue;
    for (const QuadratureNode& node : rule) {
      const long double t = middle + half * node.cos_theta;
      use(x + rho * std::cos(t), y + rho * std::sin(t), node.weight * half / (2 * pi));
    }
  }
}

template <class F>
double exact_average(const EdgedRectangle& edge, double x, double y, double rho,
                     std::vector<long double> breaks, const std::vector<QuadratureNode>& rule,
                     const F& f) {
  long double sum = 0;
  for_each_on_circle(edge, x, y, rho, std::move(breaks), rule,
                     [&](long double at_x, long double at_y, long double weight) {
                       sum += weight * static_cast<long double>(
                                           f(static_cast<double>(at_x), static_cast<double>(at_y)));
                     });
  return static_cast<double>(sum);
}

}  // namespace ringweave::detail::test
