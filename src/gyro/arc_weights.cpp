// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/arc_weights.hpp"

#include <algorithm>
#include <span>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline gyro {
namespace {

using Difference = std::array<double, 5>;
// Derivatives of the quartic through 5 nodes, at the first, the second and the middle one.
constexpr Difference at_first{-25.0 / 12, 4, -3, 4.0 / 3, -1.0 / 4};
constexpr Difference at_second{-1.0 / 4, -5.0 / 6, 3.0 / 2, -1.0 / 2, 1.0 / 12};
constexpr Difference at_middle{1.0 / 12, -2.0 / 3, 0, 2.0 / 3, -1.0 / 12};

/// Makes the cardinals of a cell between the nodes `left` and left + 1, counted from the first node
/// that they depend on; differences begin at their own nodes.
CellCardinals cubic_cell(std::size_t count, std::size_t left, const Difference& left_difference,
                         const Difference& right_difference, std::size_t right_begin) {
  CellCardinals cell;
  cell.first = -static_cast<std::int64_t>(left);
  cell.count = count;
  cell.share[left][0] = 1;
  cell.share[left + 1][1] = 1;
  for (std::size_t k = 0; k < left_difference.size(); ++k) {
    cell.share[k][2] += left_difference[k];
    cell.share[right_begin + k][3] += right_difference[k];
  }
  return cell;
}

/// Returns the cardinals of the mirror image of a cell.
CellCardinals mirrored(const CellCardinals& cell) {
  CellCardinals image;
  image.count = cell.count;
  image.first = 2 - cell.first - static_cast<std::int64_t>(cell.count);
  for (std::size_t k = 0; k < cell.count; ++k) {
    const std::array<double, 4>& share = cell.share[cell.count - 1 - k];
    image.share[k] = {share[1], share[0], -share[3], -share[2]};
  }
  return image;
}

CellCardinals linear_cell() {
  CellCardinals cell;
  cell.count = 2;
  cell.share[0][0] = 1;
  cell.share[1][1] = 1;
  return cell;
}

template <std::size_t n_functions>
std::array<double, n_functions> functions_at(double u) {
  if constexpr (n_functions == 2) {
    return {1 - u, u};
  } else {
    const double rest = 1 - u;
    return {rest * rest * (1 + 2 * u), u * u * (1 + 2 * rest), u * rest * rest, -u * u * rest};
  }
}

template <std::size_t n_functions>
using Moments = std::array<std::array<double, n_functions>, n_functions>;  // [y][x]

/// Adds weight times the products of the functions at (u, v).
template <std::size_t n_functions>
void add_moments(double u, double v, double weight, Moments<n_functions>& moments) {
  const std::array<double, n_functions> x = functions_at<n_functions>(u);
  const std::array<double, n_functions> y = functions_at<n_functions>(v);
  for (std::size_t j = 0; j < n_functions; ++j) {
    const double factor = weight * y[j];
    for (std::size_t i = 0; i < n_functions; ++i) moments[j][i] += factor * x[i];
  }
}

/// Turns moments of functions into weights of nodes.
template <std::size_t n_functions>
void weigh_nodes(const Moments<n_functions>& moments, const CellCardinals& x,
                 const CellCardinals& y, ArcWeights& weights) {
  weights.x_first += x.first;
  weights.y_first += y.first;
  weights.x_count = x.count;
  weights.y_count = y.count;
  for (std::size_t f = 0; f < n_functions; ++f) {
    std::array<double, most_cell_nodes> along_x{};
    for (std::size_t i = 0; i < x.count; ++i) {
      for (std::size_t g = 0; g < n_functions; ++g) along_x[i] += moments[f][g] * x.share[i][g];
    }
    for (std::size_t j = 0; j < y.count; ++j) {
      for (std::size_t i = 0; i < x.count; ++i) weights.weight[j][i] += y.share[j][f] * along_x[i];
    }
  }
}

/// Sums over nodes in a cell, of coordinates u, v in it.
template <std::size_t n_functions>
void sum_nodes(std::span<const double> u, std::span<const double> v, std::span<const double> weight,
               const CellCardinals& x, const CellCardinals& y, ArcWeights& weights) {
  Moments<n_functions> moments{};
  for (std::size_t k = 0; k < u.size(); ++k) {
    add_moments<n_functions>(u[k], v[k], weight[k], moments);
  }
  weigh_nodes<n_functions>(moments, x, y, weights);
}

void sum_nodes(Interpolation interpolation, const ArcNodes& nodes, std::size_t count,
               const CellCardinals& x, const CellCardinals& y, ArcWeights& weights) {
  const std::span u = std::span(nodes.u).first(count);
  const std::span v = std::span(nodes.v).first(count);
  const std::span weight = std::span(nodes.weight).first(count);
  if (interpolation == Interpolation::bilinear) {
    sum_nodes<2>(u, v, weight, x, y, weights);
  } else {
    sum_nodes<4>(u, v, weight, x, y, weights);
  }
}

bool is_in(const CellRange& range, const GridPoint::Position& position) {
  return position.cell >= range.begin &&
         (position.cell < range.end || (position.cell == range.end && position.fraction == 0));
}

}  // namespace

AxisCardinals::AxisCardinals(Interpolation interpolation, const AxisEnds& ends) : ends_(ends) {
  if (interpolation == Interpolation::bilinear) {
    whole_ = linear_cell();
    begin_ = {whole_, whole_};
    end_ = begin_;
  } else {
    whole_ = cubic_cell(6, 2, at_middle, at_middle, 1);
    begin_ = {cubic_cell(5, 0, at_first, at_second, 0), cubic_cell(5, 1, at_second, at_middle, 0)};
    end_ = {mirrored(begin_[0]), mirrored(begin_[1])};
  }
}

const CellCardinals& AxisCardinals::of(std::int64_t cell) const {
  const std::int64_t from_end = ends_.size - 2 - cell;
  if (ends_.at_begin && (cell == 0 || cell == 1)) return begin_[to_size(cell)];
  if (ends_.at_end && (from_end == 0 || from_end == 1)) return end_[to_size(from_end)];
  return whole_;
}

bool CircleWeights::contains(const CellBox& box, const GridPoint& point) {
  return is_in(box.x, point.x) && is_in(box.y, point.y);
}

ArcWeights CircleWeights::of_point(const GridPoint& point, const CellBox& box) const {
  const std::int64_t cell_x = std::min(point.x.cell, box.x.end - 1);
  const std::int64_t cell_y = std::min(point.y.cell, box.y.end - 1);
  ArcWeights weights{cell_x, cell_y};
  ArcNodes nodes;
  nodes.u[0] = static_cast<double>(point.x.cell - cell_x) + point.x.fraction;
  nodes.v[0] = static_cast<double>(point.y.cell - cell_y) + point.y.fraction;
  nodes.weight[0] = 1;
  sum_nodes(interpolation_, nodes, 1, x_.of(cell_x), y_.of(cell_y), weights);
  return weights;
}

ArcWeights CircleWeights::of_arc(const GridCircle& circle, const GridPoint& centre,
                                 const CircleArc& arc) const {
  ArcWeights weights{arc.cell_x, arc.cell_y};
  const ArcNodes nodes = nodes_of(circle, centre, arc);
  sum_nodes(interpolation_, nodes, n_arc_nodes, x_.of(arc.cell_x), y_.of(arc.cell_y), weights);
  return weights;
}

}  // namespace ringweave::detail::inline gyro
