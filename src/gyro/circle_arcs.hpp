// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::inline gyro {

/// A point in units of the spacings: cell + fraction along each axis. Kept apart, so that circles
/// about nodes, which have fraction 0, lose no digits.
struct GridPoint {
  struct Position {
    std::int64_t cell = 0;
    double fraction = 0;  ///< 0 <= fraction < 1
  };
  Position x;
  Position y;
};

/// Cells [begin, end) of an axis; cell i is between the grid lines i and i + 1.
struct CellRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  static constexpr std::int64_t unlimited = std::int64_t{1} << 50;
  static constexpr CellRange all() { return {-unlimited, unlimited}; }
};
struct CellBox {
  CellRange x;
  CellRange y;
};

/// Returns the circle with both semi-axes rounded, see rounded_radius().
GridCircle rounded_circle(GridCircle circle);

/// An arc of a circle inside one cell. Angles of the quadrant: 0 .. pi / 2, from the x axis on
/// towards the y axis, whatever the signs.
struct CircleArc {
  double begin = 0;
  double end = 0;
  double x_sign = 1;  ///< of x - centre
  double y_sign = 1;
  std::int64_t cell_x = 0;
  std::int64_t cell_y = 0;
};

/// The arcs of a circle, and memory to find them, which keeps its size from one circle to the next.
struct ArcScratch {
  std::vector<CircleArc> arcs;
  std::vector<double> cuts;  ///< angles of a quadrant
};

/// Lists the arcs of an ellipse about a point that lie inside a box of cells: cut at all grid lines
/// and at multiples of pi / 8, so that none is long. The circle has semi-axes above 0. Touching a
/// line is no crossing. Computed quadrant by quadrant, so that symmetry holds to the last digit.
/// scratch  its arcs are overwritten
void find_arcs(const GridCircle& circle, const GridPoint& centre, const CellBox& box,
               ArcScratch& scratch);

constexpr std::size_t n_arc_nodes = 8;

/// Gauss-Legendre nodes on an arc.
struct ArcNodes {
  std::array<double, n_arc_nodes> u{};       ///< x in the cell, 0 .. 1
  std::array<double, n_arc_nodes> v{};       ///< y in the cell
  std::array<double, n_arc_nodes> weight{};  ///< share of the circle: of all arcs they sum to 1
};
ArcNodes nodes_of(const GridCircle& circle, const GridPoint& centre, const CircleArc& arc);

}  // namespace ringweave::detail::inline gyro
