// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gyro/circle_arcs.hpp"
#include "gyro/interpolation.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// Weights of the outermost sources next to one end of an axis, which depend on the distance of the
/// source from the end, on that of the target, and on the offset along the end: for source p <
/// margin (0: the outermost) and target a < n_targets, as many runs of offsets as needed. Even in
/// the offset: taps of offset d > 0 count for -d, too.
struct SideTable {
  /// Consecutive offsets first, first + 1, ... >= 0 with weights[begin], weights[begin + 1], ...
  struct Run {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t begin = 0;
  };
  std::int64_t margin = 0;
  std::int64_t n_targets = 0;           ///< targets beyond have no weight
  std::vector<std::int64_t> run_begin;  ///< [(p * n_targets + a)], and the end: index into runs
  std::vector<Run> runs;
  std::vector<double> weights;
};

/// Weights of the margin x margin sources in a corner: for source (p, q) (distances from the ends
/// of x and y) runs of targets (a, b), (a, b + 1), ... If `is_symmetric`, those of p > q are not
/// stored: targets (b, a) of the source (q, p) have the same weights.
struct CornerTable {
  struct Run {
    std::int32_t a = 0;  ///< distance of the targets from the end of x
    std::int32_t b = 0;  ///< of the first one from that of y
    std::int32_t count = 0;
  };
  /// The runs of a source, and where their weights begin, one run's after the other's.
  struct Source {
    std::int64_t run_begin = 0;
    std::int64_t run_end = 0;
    std::int64_t weight_begin = 0;
  };
  std::int64_t margin = 0;
  bool is_symmetric = false;
  std::vector<Source> sources;  ///< [q * margin + p]
  std::vector<Run> runs;
  std::vector<double> weights;

  bool is_exchanged(std::int64_t p, std::int64_t q) const { return is_symmetric && p > q; }
  const Source& source(std::int64_t p, std::int64_t q) const {
    return sources[static_cast<std::size_t>(is_exchanged(p, q) ? p * margin + q : q * margin + p)];
  }
};

/// Averages over one circle of an interpolant on an equispaced grid, sorted by source node. A
/// source whose cardinal is whole has the same weights for all targets: `interior`. The outermost
/// ones of an axis that ends with zero have tables of their own. All corners, and both ends of an
/// axis, are mirror images. Plain data.
struct StencilTables {
  GridCircle circle;
  Interpolation interpolation = Interpolation::bilinear;
  std::int64_t reach_x = 0;  ///< largest offset with a weight in `interior`
  std::int64_t reach_y = 0;
  /// [dy][dx], 0 <= dy <= reach_y, 0 <= dx <= reach_x; even in both. Offsets beyond half the period
  /// of a periodic or mirrored axis are folded into it.
  std::vector<double> interior;
  SideTable x_side;  ///< ends of x: sources are columns, offsets along y
  SideTable y_side;  ///< ends of y: sources are rows, offsets along x; empty: the same as x_side
  CornerTable corner;

  const SideTable& side_of_y() const { return y_side.margin == 0 ? x_side : y_side; }

  std::int64_t bytes() const;
};

/// Computes the tables: arcs between grid lines, 8 Gauss-Legendre nodes in each. Not collective,
/// OpenMP; the same bits for any number of threads.
/// n_x, n_y  nodes of the axes; sides' and corners' targets beyond are left out
/// Cost   O(reach), 20 ms of one core at reach 180
StencilTables make_stencil_tables(Interpolation interpolation, const GridCircle& circle,
                                  std::int64_t n_x, std::int64_t n_y, PlaneBoundary x_boundary,
                                  PlaneBoundary y_boundary);

/// Bytes of the tables of a radius.
struct StencilTableBytes {
  std::int64_t interior = 0;
  std::int64_t sides = 0;   ///< and corners
  std::int64_t making = 0;  ///< taken for a while, in addition to these
};
/// Bounds the bytes that these tables take, without making them; not more than 20 % off.
StencilTableBytes stencil_table_bytes(Interpolation interpolation, const GridCircle& circle,
                                      std::int64_t n_x, std::int64_t n_y, PlaneBoundary x_boundary,
                                      PlaneBoundary y_boundary);

}  // namespace ringweave::detail::inline gyro
