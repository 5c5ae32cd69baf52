// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gyro/circle_arcs.hpp"
#include "gyro/interpolation.hpp"

namespace ringweave::detail::inline gyro {

/// Nodes of one axis that an interpolant in a cell depends on: bilinear 2, bicubic 6, but 5 next to
/// an end.
constexpr std::size_t most_cell_nodes = 6;

/// Where an axis ends with zero.
struct AxisEnds {
  bool at_begin = false;  ///< at node 0
  bool at_end = false;    ///< at node size - 1
  std::int64_t size = 0;
};

/// The interpolant in one cell, as shares of the functions that it consists of there: the two hats,
/// or Hermite's cubics of the value at both ends, then of the derivative at both ends.
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
      : interpolation_(interpolation), x_(interpolation, x), y_(interpolation, y) {}

  /// Calls visit(ArcWeights) for every arc inside the box; a circle without extent is a point.
  template <class Visit>
  void visit(const GridCircle& circle, const GridPoint& centre, const CellBox& box,
             ArcScratch& scratch, const Visit& visit) const {
    if (circle.x == 0 || circle.y == 0) {
      if (contains(box, centre)) visit(of_point(centre, box));
      return;
    }
    find_arcs(circle, centre, box, scratch);
    for (const CircleArc& arc : scratch.arcs) visit(of_arc(circle, centre, arc));
  }

 private:
  static bool contains(const CellBox& box, const GridPoint& point);
  ArcWeights of_point(const GridPoint& point, const CellBox& box) const;
  ArcWeights of_arc(const GridCircle& circle, const GridPoint& centre, const CircleArc& arc) const;

  Interpolation interpolation_;
  AxisCardinals x_;
  AxisCardinals y_;
};

}  // namespace ringweave::detail::inline gyro
