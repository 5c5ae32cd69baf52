// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gyro/arc_moments.hpp"
#include "gyro/circle_arcs.hpp"
#include "gyro/interpolation.hpp"

namespace ringweave::detail::inline gyro {

/// Nodes of one axis that an interpolant in a cell depends on: bilinear 2, bicubic 6, but 5 next to
/// an end.
constexpr std::size_t most_cell_nodes = 6;

/// Ends of an axis at which fields end with zero.
struct AxisEnds {
  bool at_begin = false;  ///< at node 0
  bool at_end = false;    ///< at node size - 1
  std::int64_t size = 0;
};

/// The interpolant in one cell, as shares of the functions that it consists of there (ArcMoments).
struct CellCardinals {
  std::int64_t first = 0;  ///< node, counted from the cell
  std::size_t count = 0;
  std::array<std::array<double, 4>, most_cell_nodes> share{};  ///< [node][function]
};

/// Cardinals of an axis, cell by cell. Derivatives are differences of fourth order over 5 nodes,
/// one-sided in the two nodes next to an end.
class AxisCardinals {
 public:
  AxisCardinals(Interpolation interpolation, const AxisEnds& ends);
  const CellCardinals& of(std::int64_t cell) const;

 private:
  AxisEnds ends_;
  CellCardinals whole_;
  std::array<CellCardinals, 2> begin_;  ///< of cells 0 and 1
  std::array<CellCardinals, 2> end_;    ///< of the last cell and the one before
};

/// Weights of nodes in the average over one arc.
struct ArcWeights {
  std::int64_t x_first = 0;
  std::int64_t y_first = 0;
  std::size_t x_count = 0;
  std::size_t y_count = 0;
  std::array<std::array<double, most_cell_nodes>, most_cell_nodes> weight{};  ///< [y][x]
};

/// Weights of nodes in averages over circles, arc by arc.
class CircleWeights {
 public:
  CircleWeights(Interpolation interpolation, const AxisEnds& x, const AxisEnds& y)
      : interpolation_(interpolation),
        x_(interpolation, x),
        y_(interpolation, y),
        rule_(make_arc_rule()) {}

  /// Calls visit(ArcWeights) for every arc inside the box; a circle without extent is a point.
  template <class Visit>
  void visit(const GridCircle& circle, const GridPoint& centre, const CellBox& box,
             const Visit& visit) const {
    if (circle.is_point()) {
      ArcWeights weights;
      if (find_cell(box.x, centre.x, weights.x_first) &&
          find_cell(box.y, centre.y, weights.y_first))
        visit(of_point(centre, weights));
      return;
    }
    for (int quadrant = 0; quadrant < QuadrantArcs::n_quadrants; ++quadrant) {
      QuadrantArcs arcs(circle, centre, box, quadrant);
      for (CircleArc arc; arcs.next(arc);) visit(of_arc(circle, centre, arc));
    }
  }

 private:
  /// weights  of no node, in the cell of the point
  ArcWeights of_point(const GridPoint& point, ArcWeights weights) const;
  ArcWeights of_arc(const GridCircle& circle, const GridPoint& centre, const CircleArc& arc) const;

  Interpolation interpolation_;
  AxisCardinals x_;
  AxisCardinals y_;
  ArcRule rule_;
};

}  // namespace ringweave::detail::inline gyro
