// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/arc_weights.hpp"

#include <cstddef>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"

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

/// Turns moments of functions into weights of nodes. weights  of no node, in the cell
template <int n_functions>
void weigh_nodes(const ArcMoments<n_functions>& moments, const AxisCardinals& along_x,
                 const AxisCardinals& along_y, ArcWeights& weights) {
  const CellCardinals& x = along_x.of(weights.x_first);
  const CellCardinals& y = along_y.of(weights.y_first);
  weights.x_first += x.first;
  weights.y_first += y.first;
  weights.x_count = x.count;
  weights.y_count = y.count;
  for (std::size_t f = 0; f < std::size_t{n_functions}; ++f) {
    std::array<double, most_cell_nodes> sums{};
    for (std::size_t i = 0; i < x.count; ++i) {
      for (std::size_t g = 0; g < std::size_t{n_functions}; ++g)
        sums[i] += moments.of[f][g] * x.share[i][g];
    }
    for (std::size_t j = 0; j < y.count; ++j) {
      for (std::size_t i = 0; i < x.count; ++i) weights.weight[j][i] += y.share[j][f] * sums[i];
    }
  }
}

/// Fills the weights of the arcs that add(moments) adds.
template <int n_functions, class Add>
void fill(const AxisCardinals& x, const AxisCardinals& y, ArcWeights& weights, const Add& add) {
  ArcMoments<n_functions> moments;
  moments.clear();
  add(moments);
  weigh_nodes(moments, x, y, weights);
}
template <class Add>
void fill(Interpolation interpolation, const AxisCardinals& x, const AxisCardinals& y,
          ArcWeights& weights, const Add& add) {
  if (interpolation == Interpolation::bilinear) {
    fill<2>(x, y, weights, add);
  } else {
    fill<4>(x, y, weights, add);
  }
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

ArcRule make_arc_rule() {
  ArcRule rule{};
  const std::vector<QuadratureNode> nodes = gauss_legendre_nodes(2 * ArcRule::n_nodes);
  for (std::size_t k = 0; k < std::size_t{ArcRule::n_nodes}; ++k) {
    rule.node[k] = nodes[k].cos_theta;
    rule.weight[k] = nodes[k].weight / (2 * std::numbers::pi);
  }
  return rule;
}

ArcWeights CircleWeights::of_point(const GridPoint& point, ArcWeights weights) const {
  const double u = static_cast<double>(point.x.cell - weights.x_first) + point.x.fraction;
  const double v = static_cast<double>(point.y.cell - weights.y_first) + point.y.fraction;
  fill(interpolation_, x_, y_, weights, [&](auto& moments) { moments.add(u, v, 1); });
  return weights;
}

ArcWeights CircleWeights::of_arc(const GridCircle& circle, const GridPoint& centre,
                                 const CircleArc& arc) const {
  ArcWeights weights{arc.cell_x, arc.cell_y};
  fill(interpolation_, x_, y_, weights,
       [&](auto& moments) { moments.add(circle, centre, arc, rule_, 1); });
  return weights;
}

}  // namespace ringweave::detail::inline gyro
