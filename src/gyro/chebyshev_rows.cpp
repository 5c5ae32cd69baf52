// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/chebyshev_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "base/gauss_legendre.hpp"
#include "gyro/chebyshev_series.hpp"
#include "gyro/host/chebyshev_kernels.hpp"
#include "gyro/operator_rows.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

std::int64_t whole_eights(double n) { return static_cast<std::int64_t>(std::ceil(n / 8)) * 8; }

/// Half of the angle of an ellipse that is beyond an end of an axis; 0: none. An ellipse that only
/// touches the end does not cross it: rounding would open an arc of 1e-8 radians.
double half_angle_beyond(double distance, double semi_axis, double slack) {
  if (distance >= semi_axis * (1 - 8 * epsilon) - slack) return 0;
  return 2 * std::asin(std::sqrt((semi_axis - distance) / (2 * semi_axis)));
}

/// sin(angle) / sqrt(1 - u^2), which stays finite where an ellipse touches an end from inside.
double angular_speed(double u, double derivative) {
  return std::abs(derivative) / std::sqrt(std::max((1 - u) * (1 + u), 1e-12));
}

/// Nodes of Gauss-Legendre quadrature on an arc, n0 + 14 n0^(1/3) + 10. The products oscillate like
/// exp(2 i n0 s), s in [-1, 1], where they do so most, and n0 nodes would resolve that on average.
std::int64_t nodes_of_arc(const UnitEllipse& ellipse, double begin, double end, double degree_x,
                          double degree_y) {
  constexpr int n_samples = 33;
  double most = 0;
  for (int i = 0; i < n_samples; ++i) {
    const double s = (2 * i + 1) / static_cast<double>(n_samples) - 1;
    const double t = (begin + end) / 2 + s * (end - begin) / 2;
    const double c = std::cos(t);
    const double sine = std::sin(t);
    const double speed =
        degree_x * angular_speed(ellipse.x.u + ellipse.semi_x * c, ellipse.semi_x * sine) +
        degree_y * angular_speed(ellipse.y.u + ellipse.semi_y * sine, ellipse.semi_y * c);
    most = std::max(most, std::sqrt(1 - s * s) * speed);
  }
  const double n0 = most * (end - begin) / 4;
  return whole_eights(n0 + 14 * std::cbrt(n0) + 10);
}

}  // namespace

UnitPlace unit_node(PlaneNodes nodes, std::int64_t i, std::int64_t n) {
  const double intervals = static_cast<double>(n - 1);
  if (nodes == PlaneNodes::equispaced) {
    return {static_cast<double>(2 * i - (n - 1)) / intervals,
            2 * static_cast<double>(i) / intervals, 2 * static_cast<double>(n - 1 - i) / intervals,
            0};
  }
  const auto from_end = [&](std::int64_t k) {
    const double half = std::sin(pi * static_cast<double>(k) / (2 * intervals));
    return 2 * half * half;
  };
  // A sine keeps its digits in the middle, too.
  const double u = std::sin(pi * static_cast<double>(2 * i - (n - 1)) / (2 * intervals));
  return {u, from_end(i), from_end(n - 1 - i), 0};
}

UnitPlace unit_place(const PlaneAxis& axis, double coordinate) {
  const double half = (axis.last - axis.first) / 2;
  const double slack =
      4 * epsilon * std::max({std::abs(axis.first), std::abs(axis.last), half}) / half;
  UnitPlace place{(coordinate - axis.first) / half - 1, (coordinate - axis.first) / half,
                  (axis.last - coordinate) / half, slack};
  const double angle = std::acos(std::clamp(-place.u, -1.0, 1.0));
  const double number = angle / pi * static_cast<double>(axis.size - 1);
  const UnitPlace node =
      unit_node(PlaneNodes::chebyshev, static_cast<std::int64_t>(std::round(number)), axis.size);
  return std::abs(node.below - place.below) <= slack ? node : place;
}

std::int64_t InsideArcs::n_nodes() const {
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < count; ++i) n += arcs[to_size(i)].n_nodes;
  return n;
}

InsideArcs arcs_inside(const UnitEllipse& ellipse, std::int64_t degrees_x, std::int64_t degrees_y) {
  // Beyond the ends, in the order of angles: side i is about angle i pi / 2.
  const std::array<double, 4> beyond = {
      half_angle_beyond(ellipse.x.above, ellipse.semi_x, ellipse.x.slack),
      half_angle_beyond(ellipse.y.above, ellipse.semi_y, ellipse.y.slack),
      half_angle_beyond(ellipse.x.below, ellipse.semi_x, ellipse.x.slack),
      half_angle_beyond(ellipse.y.below, ellipse.semi_y, ellipse.y.slack)};
  InsideArcs inside;
  int first = 0;
  while (first < 4 && beyond[to_size(first)] == 0) ++first;
  if (first == 4) {
    const std::int64_t n = whole_eights(static_cast<double>(degrees_x + degrees_y));
    inside.arcs[0] = {0, 2 * pi, n};
    inside.count = 1;
    inside.is_whole = true;
    return inside;
  }
  const double degree_x = static_cast<double>(degrees_x - 1);
  const double degree_y = static_cast<double>(degrees_y - 1);
  int from = first;
  for (int to = first + 1; to <= first + 4; ++to) {
    if (beyond[to_size(to % 4)] == 0) continue;
    const double begin = from * pi / 2 + beyond[to_size(from % 4)];
    const double end = to * pi / 2 - beyond[to_size(to % 4)];
    from = to;
    // In a corner two crossings may be one.
    if (end - begin <= 16 * epsilon) continue;
    inside.arcs[to_size(inside.count++)] = {begin, end,
                                            nodes_of_arc(ellipse, begin, end, degree_x, degree_y)};
  }
  return inside;
}

void GaussRules::need(std::int64_t n_nodes) {
  const std::size_t i = to_size(n_nodes / 8);
  if (i >= needed_.size()) needed_.resize(i + 1);
  needed_[i] = true;
}

void GaussRules::make() {
  rules_.resize(needed_.size());
  FirstError error;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < ssize64(rules_); ++i) {
    error.guard([&] {
      std::vector<Node>& rule = rules_[to_size(i)];
      if (!needed_[to_size(i)] || !rule.empty()) return;
      for (const QuadratureNode& node : gauss_legendre_nodes(8 * i))
        rule.push_back({node.cos_theta, node.weight});
    });
  }
  error.rethrow();
}

const std::vector<GaussRules::Node>& GaussRules::rule(std::int64_t n_nodes) const {
  return rules_[to_size(n_nodes / 8)];
}

ChebyshevRows::ChebyshevRows(std::int64_t degrees_x, std::int64_t degrees_y,
                             std::int64_t most_nodes)
    : degrees_x_(degrees_x),
      degrees_y_(degrees_y),
      x_(most_nodes),
      y_(most_nodes),
      weights_(most_nodes),
      ones_(most_nodes),
      x_values_(most_nodes * padded_length(degrees_x)),
      y_values_(most_nodes * degrees_y) {
  std::fill(ones_.begin(), ones_.end(), 1.0);
  std::fill(x_values_.begin(), x_values_.end(), 0.0);
}

void ChebyshevRows::compute(const UnitEllipse& ellipse, const InsideArcs& arcs,
                            const GaussRules& rules, double* row) {
  std::int64_t n = 0;
  for_each_node(ellipse, arcs, rules, [&](const CircleNode& node) {
    x_[n] = node.x;
    y_[n] = node.y;
    weights_[n++] = node.weight;
  });
  const std::int64_t x_row = padded_length(degrees_x_);
  chebyshev_values(x_.data(), ones_.data(), n, degrees_x_, x_values_.data(), x_row);
  chebyshev_values(y_.data(), weights_.data(), n, degrees_y_, y_values_.data(), degrees_y_);
  multiply_matrices({n, y_values_.data(), degrees_y_, 1, x_values_.data(), x_row}, degrees_y_,
                    x_row, row, x_row);
}

std::vector<GyroWeight> chebyshev_row(const PlaneGrid& grid, double x, double y, double rho) {
  const UnitEllipse ellipse{unit_place(grid.x, x), unit_place(grid.y, y),
                            2 * rho / (grid.x.last - grid.x.first),
                            2 * rho / (grid.y.last - grid.y.first)};
  const InsideArcs arcs = arcs_inside(ellipse, grid.x.size, grid.y.size);
  GaussRules rules;
  for (std::int64_t i = 0; i < arcs.count; ++i) rules.need(arcs.arcs[to_size(i)].n_nodes);
  rules.make();
  const ChebyshevSeries series(grid.x.size, grid.y.size);
  HostBuffer<double> row(series.matrix_size());
  HostBuffer<double> scratch(series.matrix_size());
  ChebyshevRows(grid.x.size, grid.y.size, arcs.n_nodes()).compute(ellipse, arcs, rules, row.data());
  series.to_node_weights(row.data(), scratch.data());
  std::vector<GyroWeight> weights;
  weights.reserve(to_size(grid.n_nodes()));
  for (std::int64_t j = 0; j < grid.y.size; ++j) {
    for (std::int64_t i = 0; i < grid.x.size; ++i)
      weights.push_back({i, j, row[j * series.row_length() + i]});
  }
  return weights;
}

}  // namespace ringweave::detail::inline gyro
