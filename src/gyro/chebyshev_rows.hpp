// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// A place on an axis that is mapped to [-1, 1]. The distances from both ends keep their digits
/// there.
struct UnitPlace {
  double u = 0;
  double below = 0;  ///< u + 1
  double above = 0;  ///< 1 - u
  /// Largest change of the distances by rounding, beyond their last digit.
  double slack = 0;
};
/// Node i of n Chebyshev nodes, or of n equispaced ones.
UnitPlace unit_node(PlaneNodes nodes, std::int64_t i, std::int64_t n);
/// A coordinate on an axis of Chebyshev nodes, which is a node if it differs from it by rounding.
UnitPlace unit_place(const PlaneAxis& axis, double coordinate);

/// A circle about a place in the rectangle that is mapped to [-1, 1]^2, where it is an ellipse.
struct UnitEllipse {
  UnitPlace x;
  UnitPlace y;
  double semi_x = 0;
  double semi_y = 0;
};

/// The arcs of a circle inside the rectangle, each with its nodes. A circle inside has one, with
/// equidistant nodes.
struct InsideArcs {
  struct Arc {
    double begin = 0;  ///< radians
    double end = 0;
    std::int64_t n_nodes = 0;  ///< a multiple of 8
  };
  std::array<Arc, 4> arcs;
  std::int64_t count = 0;
  bool is_whole = false;

  std::int64_t n_nodes() const;
};
/// Finds the arcs, and as many nodes as products of polynomials of degrees < degrees_x and <
/// degrees_y need.
InsideArcs arcs_inside(const UnitEllipse& ellipse, std::int64_t degrees_x, std::int64_t degrees_y);

/// Gauss-Legendre rules on [-1, 1], each made once. Not thread safe while rules are made.
class GaussRules {
 public:
  struct Node {
    double place;
    double weight;
  };
  void need(std::int64_t n_nodes);  ///< a multiple of 8
  void make();                      ///< all rules of need(). OpenMP
  const std::vector<Node>& rule(std::int64_t n_nodes) const;

 private:
  std::vector<std::vector<Node>> rules_;  ///< [n / 8]
  std::vector<bool> needed_;
};

/// A node of the quadrature on a circle, and its weight in the average.
struct CircleNode {
  double x;
  double y;
  double weight;
};
/// Calls add(node) for all nodes of the arcs of a circle.
template <class Add>
void for_each_node(const UnitEllipse& ellipse, const InsideArcs& arcs, const GaussRules& rules,
                   const Add& add) {
  constexpr double turn = 2 * std::numbers::pi;
  const auto add_at = [&](double t, double weight) {
    add(CircleNode{std::clamp(ellipse.x.u + ellipse.semi_x * std::cos(t), -1.0, 1.0),
                   std::clamp(ellipse.y.u + ellipse.semi_y * std::sin(t), -1.0, 1.0), weight});
  };
  if (arcs.is_whole) {
    const double count = static_cast<double>(arcs.arcs[0].n_nodes);
    for (std::int64_t k = 0; k < arcs.arcs[0].n_nodes; ++k)
      add_at(turn * (static_cast<double>(k) + 0.5) / count, 1 / count);
    return;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(arcs.count); ++i) {
    const InsideArcs::Arc& arc = arcs.arcs[i];
    const double half = (arc.end - arc.begin) / 2;
    for (const GaussRules::Node& node : rules.rule(arc.n_nodes))
      add_at((arc.begin + arc.end) / 2 + half * node.place, node.weight * half / turn);
  }
}

/// Computes rows of the operator that averages products of Chebyshev polynomials over circles.
/// Holds scratch: one for each thread.
class ChebyshevRows {
 public:
  /// most_nodes  of a circle
  ChebyshevRows(std::int64_t degrees_x, std::int64_t degrees_y, std::int64_t most_nodes);

  /// Computes row[q][p] = 1/(2 pi) integral T_p(x) T_q(y) dt over the arcs, by Gauss-Legendre
  /// quadrature; good to 7e-15. Rows of p are padded_length(degrees_x) apart and end with zeros.
  /// Allocates nothing.
  void compute(const UnitEllipse& ellipse, const InsideArcs& arcs, const GaussRules& rules,
               double* row);

 private:
  std::int64_t degrees_x_;
  std::int64_t degrees_y_;
  HostBuffer<double> x_;         ///< [node]
  HostBuffer<double> y_;         ///< [node]
  HostBuffer<double> weights_;   ///< [node]
  HostBuffer<double> ones_;      ///< [node]
  HostBuffer<double> x_values_;  ///< [node][p]
  HostBuffer<double> y_values_;  ///< [node][q], times weights
};

}  // namespace ringweave::detail::inline gyro
