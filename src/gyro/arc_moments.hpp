// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

#include "base/host_device.hpp"
#include "gyro/circle_arcs.hpp"

namespace ringweave::detail::inline gyro {

/// Gauss-Legendre nodes > 0 on [-1, 1]; their mirror images have the same weights.
struct ArcRule {
  static constexpr int n_nodes = 4;
  double node[n_nodes];
  double weight[n_nodes];  ///< of an arc of half angle 1 in the circle
};
ArcRule make_arc_rule();

/// Sine and 1 - cosine of |angle| <= pi / 16, by series.
struct SmallTurn {
  double sine = 0;
  double versine = 0;

  RINGWEAVE_HOST_DEVICE explicit SmallTurn(double angle) {
    const double s = angle * angle;
    sine = angle *
           (1 - s * (1. / 6) *
                    (1 - s * (1. / 20) *
                             (1 - s * (1. / 42) * (1 - s * (1. / 72) * (1 - s * (1. / 110))))));
    versine = s * (1. / 2) *
              (1 - s * (1. / 12) *
                       (1 - s * (1. / 30) *
                                (1 - s * (1. / 56) * (1 - s * (1. / 90) * (1 - s * (1. / 132))))));
  }
};

/// Averages over an arc of products of the functions that an interpolant consists of in a cell: the
/// two hats (n_functions = 2), or Hermite's cubics of the value at both ends, then of the
/// derivative at both ends (4).
template <int n_functions>
struct ArcMoments {
  double of[std::size_t{n_functions}][std::size_t{n_functions}];  ///< [y][x]

  RINGWEAVE_HOST_DEVICE void clear() {
    RINGWEAVE_UNROLL
    for (int j = 0; j < n_functions; ++j) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < n_functions; ++i) of[j][i] = 0;
    }
  }

  /// Adds weight times the products at (u, v), coordinates in the cell.
  RINGWEAVE_HOST_DEVICE void add(double u, double v, double weight) {
    const Functions x(u);
    const Functions y(v);
    RINGWEAVE_UNROLL
    for (int j = 0; j < n_functions; ++j) {
      const double factor = weight * y.at[j];
      RINGWEAVE_UNROLL
      for (int i = 0; i < n_functions; ++i) of[j][i] += factor * x.at[i];
    }
  }

  /// Adds `factor` times the integrals over an arc, divided by the whole circle.
  RINGWEAVE_HOST_DEVICE void add(const GridCircle& circle, const GridPoint& centre,
                                 const CircleArc& arc, const ArcRule& rule, double factor) {
    const double x = arc.x_sign * circle.x;
    const double y = arc.y_sign * circle.y;
    // The middle in the cell, then small steps from it.
    const double u =
        static_cast<double>(centre.x.cell - arc.cell_x) + centre.x.fraction + x * arc.c;
    const double v =
        static_cast<double>(centre.y.cell - arc.cell_y) + centre.y.fraction + y * arc.s;
    RINGWEAVE_UNROLL
    for (int k = 0; k < ArcRule::n_nodes; ++k) {
      const SmallTurn turn(arc.half * rule.node[k]);
      const double weight = factor * arc.half * rule.weight[k];
      add(u - x * (turn.versine * arc.c + turn.sine * arc.s),
          v + y * (turn.sine * arc.c - turn.versine * arc.s), weight);
      add(u - x * (turn.versine * arc.c - turn.sine * arc.s),
          v - y * (turn.sine * arc.c + turn.versine * arc.s), weight);
    }
  }

 private:
  struct Functions {
    double at[std::size_t{n_functions}];

    RINGWEAVE_HOST_DEVICE explicit Functions(double u) {
      const double rest = 1 - u;
      if constexpr (n_functions == 2) {
        at[0] = rest;
        at[1] = u;
      } else {
        at[0] = rest * rest * (1 + 2 * u);
        at[1] = u * u * (1 + 2 * rest);
        at[2] = u * rest * rest;
        at[3] = -u * u * rest;
      }
    }
  };
};

/// Tells whether a point is in a box, and puts its cell there: `cell` of a node at the end is the
/// last one.
RINGWEAVE_HOST_DEVICE bool find_cell(const CellRange& range, const GridPoint::Position& position,
                                     std::int64_t& cell) {
  cell = position.cell < range.end ? position.cell : range.end - 1;
  return position.cell >= range.begin &&
         (position.cell < range.end || (position.cell == range.end && position.fraction == 0));
}

}  // namespace ringweave::detail::inline gyro
