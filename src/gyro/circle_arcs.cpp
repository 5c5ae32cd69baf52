// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/circle_arcs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "gyro/axis_positions.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr double quadrant = std::numbers::pi / 2;
constexpr int n_sectors = 4;  // of a quadrant

/// One axis of a circle as a quadrant sees it: distances from the centre grow with its sign.
struct Side {
  double radius = 0;
  double sign = 1;
  GridPoint::Position centre;
  double reach = 0;  ///< distances from here on are no crossing
  double nearest = 0;
  double farthest = 0;  ///< the box is between these distances

  Side(double semi_axis, double direction, const GridPoint::Position& at, const CellRange& range)
      : radius(semi_axis), sign(direction), centre(at) {
    // A fraction has the rounding error of the whole coordinate.
    const double position =
        at.fraction == 0 ? 0 : std::abs(static_cast<double>(at.cell) + at.fraction);
    reach = radius - 8 * std::numeric_limits<double>::epsilon() * (radius + position);
    const double begin = distance(range.begin);
    const double end = distance(range.end);
    nearest = std::min(begin, end);
    farthest = std::max(begin, end);
  }

  double distance(std::int64_t line) const {
    return sign * (static_cast<double>(line - centre.cell) - centre.fraction);
  }
  bool misses() const { return farthest <= 0 || nearest >= reach; }
  /// Angle from this axis at which the circle is `distance` away; 0 when it does not get so far.
  double angle(double distance) const {
    if (distance >= reach) return 0;
    return std::atan2(std::sqrt((radius - distance) * (radius + distance)), distance);
  }
  /// Cell of the point at this distance.
  std::int64_t cell(double distance) const {
    return centre.cell + static_cast<std::int64_t>(std::floor(centre.fraction + sign * distance));
  }
  /// Calls visit(angle) for all lines at distances in (low, high).
  template <class Visit>
  void lines_between(double low, double high, const Visit& visit) const {
    // Rounding at the ends of the range: one line more is sorted out by its angle.
    const double first = std::ceil(low + sign * centre.fraction) - 1;
    const double last = std::floor(high + sign * centre.fraction) + 1;
    for (double line = first; line <= last; ++line) {
      const double at = line - sign * centre.fraction;
      if (at > 0 && at < reach) visit(angle(at));
    }
  }
};

/// Cuts one quadrant of a circle.
class QuadrantArcs {
 public:
  QuadrantArcs(const Side& x, const Side& y, const CellBox& box) : x_(x), y_(y), box_(box) {}

  void append_to(std::vector<CircleArc>& arcs, std::vector<double>& cuts) const {
    if (x_.misses() || y_.misses()) return;
    // x falls with the angle, y grows.
    double begin = x_.angle(x_.farthest);
    double end = quadrant - y_.angle(y_.farthest);
    if (x_.nearest > 0) end = std::min(end, x_.angle(x_.nearest));
    if (y_.nearest > 0) begin = std::max(begin, quadrant - y_.angle(y_.nearest));
    if (!(begin < end)) return;
    find_cuts(begin, end, cuts);
    for (std::size_t k = 1; k < cuts.size(); ++k) {
      if (cuts[k - 1] < cuts[k]) arcs.push_back(arc(cuts[k - 1], cuts[k]));
    }
  }

 private:
  void find_cuts(double begin, double end, std::vector<double>& cuts) const {
    cuts.assign({begin, end});
    const auto cut = [&](double angle) {
      if (angle > begin && angle < end) cuts.push_back(angle);
    };
    for (int s = 1; s < n_sectors; ++s) cut(s * quadrant / n_sectors);
    x_.lines_between(x_.radius * std::cos(end), x_.radius * std::cos(begin), cut);
    y_.lines_between(y_.radius * std::sin(begin), y_.radius * std::sin(end),
                     [&](double angle) { cut(quadrant - angle); });
    std::sort(cuts.begin(), cuts.end());
  }
  /// The cell is that of the middle; an arc of rounding errors beside the box is put inside.
  CircleArc arc(double begin, double end) const {
    const double middle = (begin + end) / 2;
    const std::int64_t cell_x = x_.cell(x_.radius * std::cos(middle));
    const std::int64_t cell_y = y_.cell(y_.radius * std::sin(middle));
    return {begin,
            end,
            x_.sign,
            y_.sign,
            std::clamp(cell_x, box_.x.begin, box_.x.end - 1),
            std::clamp(cell_y, box_.y.begin, box_.y.end - 1)};
  }

  const Side& x_;
  const Side& y_;
  const CellBox& box_;
};

/// Positive nodes on [-1, 1] and their weights.
struct GaussRule {
  std::array<double, n_arc_nodes / 2> node{};
  std::array<double, n_arc_nodes / 2> weight{};
};

const GaussRule& gauss_rule() {
  static const GaussRule rule = [] {
    GaussRule made;
    const std::vector<QuadratureNode> nodes = gauss_legendre_nodes(n_arc_nodes);
    for (std::size_t k = 0; k < made.node.size(); ++k) {
      made.node[k] = nodes[k].cos_theta;
      made.weight[k] = nodes[k].weight;
    }
    return made;
  }();
  return rule;
}

/// Sine and 1 - cosine of |angle| <= pi / 16, by series.
struct SmallTurn {
  double sine = 0;
  double versine = 0;

  explicit SmallTurn(double angle) {
    const double s = angle * angle;
    sine = angle * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))));
    versine = s / 2 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90 * (1 - s / 132)))));
  }
};

}  // namespace

GridCircle rounded_circle(GridCircle circle) {
  return {rounded_radius(circle.x), rounded_radius(circle.y)};
}

void find_arcs(const GridCircle& circle, const GridPoint& centre, const CellBox& box,
               ArcScratch& scratch) {
  std::vector<CircleArc>& arcs = scratch.arcs;
  std::vector<double>& cuts = scratch.cuts;
  arcs.clear();
  for (const double y_sign : {1.0, -1.0}) {
    const Side y(circle.y, y_sign, centre.y, box.y);
    for (const double x_sign : {1.0, -1.0}) {
      const Side x(circle.x, x_sign, centre.x, box.x);
      QuadrantArcs(x, y, box).append_to(arcs, cuts);
    }
  }
}

ArcNodes nodes_of(const GridCircle& circle, const GridPoint& centre, const CircleArc& arc) {
  const GaussRule& rule = gauss_rule();
  const double half = (arc.end - arc.begin) / 2;
  const double middle = (arc.begin + arc.end) / 2;
  const double radius_x = arc.x_sign * circle.x;
  const double radius_y = arc.y_sign * circle.y;
  const double c = std::cos(middle);
  const double s = std::sin(middle);
  // The middle in the cell, then small steps from it.
  const double u =
      static_cast<double>(centre.x.cell - arc.cell_x) + centre.x.fraction + radius_x * c;
  const double v =
      static_cast<double>(centre.y.cell - arc.cell_y) + centre.y.fraction + radius_y * s;
  ArcNodes nodes;
  for (std::size_t k = 0; k < rule.node.size(); ++k) {
    const SmallTurn turn(half * rule.node[k]);
    const std::size_t mirrored = n_arc_nodes - 1 - k;
    nodes.u[k] = u - radius_x * (turn.versine * c + turn.sine * s);
    nodes.u[mirrored] = u - radius_x * (turn.versine * c - turn.sine * s);
    nodes.v[k] = v + radius_y * (turn.sine * c - turn.versine * s);
    nodes.v[mirrored] = v - radius_y * (turn.sine * c + turn.versine * s);
    nodes.weight[k] = nodes.weight[mirrored] = half * rule.weight[k] / (2 * std::numbers::pi);
  }
  return nodes;
}

}  // namespace ringweave::detail::inline gyro
