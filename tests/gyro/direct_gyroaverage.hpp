// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/interpolation.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::test {

using Long = long double;
constexpr Long long_pi = std::numbers::pi_v<Long>;

/// Returns the node that has the value of node i of an axis, continued by its boundary.
inline std::int64_t node_of_image(const PlaneAxis& axis, std::int64_t i) {
  const std::int64_t last = axis.size - 1;
  while (i < 0 || i > last) {
    if (axis.boundary == PlaneBoundary::periodic) i += i < 0 ? axis.size : -axis.size;
    if (axis.boundary == PlaneBoundary::mirror) i = i < 0 ? -i : 2 * last - i;
  }
  return i;
}

/// The definition of the interpolant along one axis, in units of the spacing.
class DirectAxis {
 public:
  DirectAxis(const PlaneAxis& axis, Interpolation interpolation)
      : axis_(axis), interpolation_(interpolation) {}

  bool contains(Long position) const {
    return axis_.boundary != PlaneBoundary::zero ||
           (position >= 0 && position <= static_cast<Long>(axis_.size - 1));
  }
  /// Returns the weight of every node in the value at a position.
  std::vector<Long> weights(Long position) const {
    std::vector<Long> sums(to_size(axis_.size));
    auto cell = static_cast<std::int64_t>(std::floor(position));
    if (axis_.boundary == PlaneBoundary::zero) {
      cell = std::clamp(cell, std::int64_t{0}, axis_.size - 2);
    }
    const Long u = position - static_cast<Long>(cell);
    if (interpolation_ == Interpolation::bilinear) {
      add(sums, cell, 1 - u);
      add(sums, cell + 1, u);
      return sums;
    }
    add(sums, cell, 1 - 3 * u * u + 2 * u * u * u);
    add(sums, cell + 1, 3 * u * u - 2 * u * u * u);
    add_derivative(sums, cell, u - 2 * u * u + u * u * u);
    add_derivative(sums, cell + 1, u * u * u - u * u);
    return sums;
  }

 private:
  void add(std::vector<Long>& sums, std::int64_t node, Long weight) const {
    sums[to_size(node_of_image(axis_, node))] += weight;
  }
  /// Adds weight times the derivative at a node of the quartic through 5 nodes.
  void add_derivative(std::vector<Long>& sums, std::int64_t node, Long weight) const {
    std::int64_t first = node - 2;
    if (axis_.boundary == PlaneBoundary::zero) {
      first = std::clamp(first, std::int64_t{0}, axis_.size - 5);
    }
    for (std::int64_t i = first; i < first + 5; ++i) {
      // Lagrange's polynomial of node i, differentiated.
      Long derivative = 0;
      for (std::int64_t omitted = first; omitted < first + 5; ++omitted) {
        if (omitted == i) continue;
        Long product = 1 / static_cast<Long>(i - omitted);
        for (std::int64_t k = first; k < first + 5; ++k) {
          if (k != i && k != omitted)
            product *= static_cast<Long>(node - k) / static_cast<Long>(i - k);
        }
        derivative += product;
      }
      add(sums, i, weight * derivative);
    }
  }

  PlaneAxis axis_;
  Interpolation interpolation_;
};

/// Appends the angles at which centre + radius cos(t) is a whole number; sine: centre + radius
/// sin(t).
inline void append_crossings(Long centre, Long radius, bool sine, std::vector<Long>& angles) {
  for (Long line = std::ceil(centre - radius); line <= centre + radius; ++line) {
    const Long ratio = (line - centre) / radius;
    if (std::abs(ratio) > 1 - 1e-14L) continue;
    const Long angle = sine ? std::asin(ratio) : std::acos(ratio);
    angles.push_back(angle);
    angles.push_back(sine ? long_pi - angle : -angle);
  }
}

/// Returns the weights [y][x] of all nodes in the average over the circle of semi-axes rx, ry about
/// (x, y), all in units of the spacings, by the definition: 20 Gauss-Legendre nodes in each piece
/// of the circle between grid lines and multiples of pi / 16.
inline std::vector<Long> direct_row(const PlaneGrid& grid, Interpolation interpolation, Long x,
                                    Long y, Long rx, Long ry) {
  std::vector<Long> angles;
  append_crossings(x, rx, false, angles);
  append_crossings(y, ry, true, angles);
  for (int k = 0; k < 32; ++k) angles.push_back(k * long_pi / 16);
  for (Long& angle : angles) angle -= 2 * long_pi * std::floor(angle / (2 * long_pi));
  angles.push_back(2 * long_pi);
  std::sort(angles.begin(), angles.end());
  const DirectAxis along_x(grid.x, interpolation);
  const DirectAxis along_y(grid.y, interpolation);
  std::vector<Long> row(to_size(grid.n_nodes()));
  using Rule = boost::math::quadrature::gauss<Long, 20>;
  const auto add_at = [&](Long angle, Long weight) {
    const std::vector<Long> wx = along_x.weights(x + rx * std::cos(angle));
    const std::vector<Long> wy = along_y.weights(y + ry * std::sin(angle));
    for (std::size_t j = 0; j < wy.size(); ++j) {
      for (std::size_t i = 0; wy[j] != 0 && i < wx.size(); ++i)
        row[j * wx.size() + i] += weight * wy[j] * wx[i];
    }
  };
  for (std::size_t k = 1; k < angles.size(); ++k) {
    const Long half = (angles[k] - angles[k - 1]) / 2;
    const Long middle = (angles[k] + angles[k - 1]) / 2;
    if (half < 1e-17L || !along_x.contains(x + rx * std::cos(middle)) ||
        !along_y.contains(y + ry * std::sin(middle))) {
      continue;
    }
    for (std::size_t q = 0; q < Rule::abscissa().size(); ++q) {
      const Long weight = half * Rule::weights()[q] / (2 * long_pi);
      add_at(middle + half * Rule::abscissa()[q], weight);
      add_at(middle - half * Rule::abscissa()[q], weight);
    }
  }
  return row;
}

/// Returns an axis of equispaced nodes.
inline PlaneAxis plane_axis(std::int64_t size, PlaneBoundary boundary, double first = -1,
                            double last = 1) {
  return {size, first, last, PlaneNodes::equispaced, boundary};
}

/// Returns a row as weights of all nodes, [y][x].
inline std::vector<double> dense_row(const PlaneGrid& grid, const std::vector<GyroWeight>& row) {
  std::vector<double> weights(to_size(grid.n_nodes()));
  for (const GyroWeight& w : row) weights[to_size(w.y * grid.x.size + w.x)] += w.weight;
  return weights;
}

template <class A, class B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(a[k] - b[k])));
  }
  return a.size() == b.size() ? largest : 1e300;
}

constexpr std::array boundaries{PlaneBoundary::zero, PlaneBoundary::periodic,
                                PlaneBoundary::mirror};

}  // namespace ringweave::detail::test
