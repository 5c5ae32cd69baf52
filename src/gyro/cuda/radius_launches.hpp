// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"
#include "gyro/arc_moments.hpp"
#include "gyro/axis_positions.hpp"
#include "gyro/circle_arcs.hpp"
#include "gyro/cuda/radius_plan.hpp"

// An interpolant is known in a cell from the values at its four nodes, or (bicubic) from value,
// derivatives along x and y, and both: an average is the sum over arcs of their moments times these
// numbers. A transpose sums the moments of all arcs in a cell first.
namespace ringweave::detail::gpu {

/// Numbers of a node that interpolants are made of.
template <int n_functions>
inline constexpr int numbers_of_node = n_functions* n_functions / 4;

/// Returns the moment of a number of a node in a cell of which it is the corner (i, j): of[y][x].
/// `number` 0: the value; 1, 2: derivatives along x, along y; 3: along both.
template <int n_functions>
RINGWEAVE_HOST_DEVICE double corner_moment(const ArcMoments<n_functions>& moments, int j, int i,
                                           int number) {
  return moments.of[j + number / 2 * 2][i + number % 2 * 2];
}

/// Returns the circle about a target, in spacings.
RINGWEAVE_HOST_DEVICE GridCircle circle_of(const RadiusGrid& grid, double rho) {
  return rounded_circle({rho / grid.spacing_x, rho / grid.spacing_y});
}

/// Writes value and derivatives of all nodes of planes: [plane][node][4].
struct FindDerivatives {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and row of nodes
  std::int64_t n_y;
  const DerivativeTaps::Tap* x_taps;
  const DerivativeTaps::Tap* y_taps;
  const double* fields;
  double* nodes;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t x) {
      const std::int64_t n_x = pieces.row_length;
      const Quotient at = divide(row, n_y);  // plane, y
      const double* const plane = fields + at.whole * n_y * n_x;
      const double* const own = plane + at.rest * n_x;
      double along_y = 0;
      double along_both = 0;
      for (std::int64_t k = 0; k < DerivativeTaps::of_node; ++k) {
        const DerivativeTaps::Tap tap = y_taps[at.rest * DerivativeTaps::of_node + k];
        const double* const other = plane + tap.node * n_x;
        along_y += tap.weight * other[x];
        along_both += tap.weight * along_x(other, x);
      }
      double* const to = nodes + (row * n_x + x) * 4;
      to[0] = own[x];
      to[1] = along_x(own, x);
      to[2] = along_y;
      to[3] = along_both;
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE double along_x(const double* values, std::int64_t x) const {
    double sum = 0;
    for (std::int64_t k = 0; k < DerivativeTaps::of_node; ++k) {
      const DerivativeTaps::Tap tap = x_taps[x * DerivativeTaps::of_node + k];
      sum += tap.weight * values[tap.node];
    }
    return sum;
  }
};

/// Averages planes over the circles about targets. A thread sums one quadrant of a circle, and the
/// lanes of a warp have neighbouring targets.
template <int n_functions, int planes>
struct AverageTargets {
  static constexpr int least_blocks = n_functions == 2 ? 4 : 3;
  struct Shared {
    Array<Array<Array<double, warp_lanes>, planes>, block_warps> sums;  ///< [quadrant]
  };
  static_assert(block_warps == QuadrantArcs::n_quadrants);

  RadiusGrid grid;
  const double* radii;
  const double* nodes;  ///< [plane][node][numbers_of_node]
  double* results;      ///< [plane][target]

  static std::int64_t n_blocks(std::int64_t n_targets) {
    return (n_targets + warp_lanes - 1) / warp_lanes;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const std::int64_t first = block.index() * warp_lanes;
    const std::int64_t n_targets = grid.n_targets();
    block.each([&](int thread) {
      const int lane = thread % warp_lanes;
      const int quadrant = thread / warp_lanes;
      Array<double, planes> sums;
      RINGWEAVE_UNROLL
      for (int p = 0; p < planes; ++p) sums[p] = 0;
      if (first + lane < n_targets) sum_quadrant(first + lane, quadrant, sums);
      RINGWEAVE_UNROLL
      for (int p = 0; p < planes; ++p) shared.sums[quadrant][p][lane] = sums[p];
    });
    block.sync();
    block.each([&](int thread) {
      for (int i = thread; i < planes * warp_lanes; i += block_threads) {
        const int lane = i % warp_lanes;
        const int p = i / warp_lanes;
        if (first + lane >= n_targets) continue;
        double sum = 0;
        for (int quadrant = 0; quadrant < QuadrantArcs::n_quadrants; ++quadrant)
          sum += shared.sums[quadrant][p][lane];
        results[p * n_targets + first + lane] = sum;
      }
    });
  }

 private:
  static constexpr int numbers = numbers_of_node<n_functions>;

  RINGWEAVE_HOST_DEVICE void sum_quadrant(std::int64_t target, int quadrant, double* sums) const {
    const std::int64_t row = target / grid.n_x;
    const GridPoint centre{{target - row * grid.n_x, 0}, {grid.row_begin + row, 0}};
    const GridCircle circle = circle_of(grid, radii[target]);
    if (circle.is_point()) {
      if (quadrant > 0) return;
      const std::int64_t node = centre.y.cell * grid.n_x + centre.x.cell;
      RINGWEAVE_UNROLL
      for (int p = 0; p < planes; ++p) sums[p] = nodes[(p * grid.n_y * grid.n_x + node) * numbers];
      return;
    }
    QuadrantArcs arcs(circle, centre, grid.box, quadrant);
    for (CircleArc arc; arcs.next(arc);) {
      ArcMoments<n_functions> moments;
      moments.clear();
      moments.add(circle, centre, arc, grid.rule, 1);
      add(arc, moments, sums);
    }
  }

  /// Adds moments times the numbers of the four nodes of a cell.
  RINGWEAVE_HOST_DEVICE void add(const CircleArc& arc, ArcMoments<n_functions>& moments,
                                 double* sums) const {
    Array<std::int64_t, 2> column;
    Array<std::int64_t, 2> row;
    RINGWEAVE_UNROLL
    for (int end = 0; end < 2; ++end) {
      column[end] = node_at(grid.x_boundary, grid.n_x, arc.cell_x + end);
      row[end] = node_at(grid.y_boundary, grid.n_y, arc.cell_y + end);
      if constexpr (n_functions == 4) {
        // The derivative in a mirror has the other sign.
        const bool x_turned = is_mirrored(grid.x_boundary, grid.n_x, arc.cell_x + end);
        const bool y_turned = is_mirrored(grid.y_boundary, grid.n_y, arc.cell_y + end);
        RINGWEAVE_UNROLL
        for (int k = 0; k < n_functions; ++k) {
          if (x_turned) moments.of[k][2 + end] = -moments.of[k][2 + end];
          if (y_turned) moments.of[2 + end][k] = -moments.of[2 + end][k];
        }
      }
    }
    RINGWEAVE_UNROLL
    for (int j = 0; j < 2; ++j) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < 2; ++i) {
        const std::int64_t node = row[j] * grid.n_x + column[i];
        RINGWEAVE_UNROLL
        for (int p = 0; p < planes; ++p) {
          const double* const of = nodes + (p * grid.n_y * grid.n_x + node) * numbers;
          RINGWEAVE_UNROLL
          for (int k = 0; k < numbers; ++k) sums[p] += corner_moment(moments, j, i, k) * of[k];
        }
      }
    }
  }
};

/// The targets whose circles may pass through a cell, with the images that periodic and mirrored
/// axes have, in a fixed order: by rows, within them by distance.
class CellTargets {
 public:
  RINGWEAVE_HOST_DEVICE CellTargets(const RadiusGrid& grid, const RowRadii* rows,
                                    const double* radii, std::int64_t cell_x, std::int64_t cell_y)
      : grid_(&grid),
        rows_(rows),
        radii_(radii),
        cell_x_(cell_x),
        cell_y_(cell_y),
        y_(cell_y - grid.reach_y - 1) {}

  /// Finds the next one; false: there is none.
  RINGWEAVE_HOST_DEVICE bool next() {
    while (true) {
      if (distance_ > farthest_) {
        if (++y_ > cell_y_ + 1 + grid_->reach_y) return false;
        begin_row();
        continue;
      }
      const bool is_left = is_left_;
      const std::int64_t distance = distance_;
      is_left_ = !is_left;
      if (!is_left) ++distance_;
      x_ = is_left ? cell_x_ - distance : cell_x_ + 1 + distance;
      const std::int64_t x = node_at(grid_->x_boundary, grid_->n_x, x_);
      if (x < 0) continue;
      target_ = row_ * grid_->n_x + x;
      const double rho = radii_[target_];
      const double near = static_cast<double>(distance) * grid_->spacing_x;
      const double far = near + grid_->spacing_x;
      const double square = rho * rho;
      if (near * near + near_y_ <= square * (1 + rounding) &&
          far * far + far_y_ >= square * (1 - rounding))
        return true;
    }
  }

  /// Returns the number of the target in [row][x], rows from row_begin on.
  RINGWEAVE_HOST_DEVICE std::int64_t target() const { return target_; }
  RINGWEAVE_HOST_DEVICE double rho() const { return radii_[target_]; }
  /// Returns the centre of the circle: the target, or an image.
  RINGWEAVE_HOST_DEVICE GridPoint centre() const { return {{x_, 0}, {y_, 0}}; }
  RINGWEAVE_HOST_DEVICE int quadrant() const {
    return (cell_x_ >= x_ ? 0 : 1) + (cell_y_ >= y_ ? 0 : 2);
  }
  /// Returns how many images of the target are at the centre: two for a mirrored axis at its ends.
  RINGWEAVE_HOST_DEVICE double images() const {
    const std::int64_t x = target_ - row_ * grid_->n_x;
    const std::int64_t y = grid_->row_begin + row_;
    return images_of(grid_->x_boundary, grid_->n_x, x) *
           images_of(grid_->y_boundary, grid_->n_y, y);
  }

 private:
  static constexpr double rounding = 1e-12;

  RINGWEAVE_HOST_DEVICE static double images_of(PlaneBoundary boundary, std::int64_t n,
                                                std::int64_t node) {
    return boundary == PlaneBoundary::mirror && (node == 0 || node == n - 1) ? 2 : 1;
  }

  /// Finds the distances along x between which circles of row y_ may pass through the cell.
  RINGWEAVE_HOST_DEVICE void begin_row() {
    distance_ = 0;
    farthest_ = -1;
    is_left_ = true;
    const std::int64_t y = node_at(grid_->y_boundary, grid_->n_y, y_);
    if (y < grid_->row_begin || y >= grid_->row_end) return;
    row_ = y - grid_->row_begin;
    const RowRadii radii = rows_[row_];
    const std::int64_t rows_between = cell_y_ >= y_ ? cell_y_ - y_ : y_ - cell_y_ - 1;
    const double near = static_cast<double>(rows_between) * grid_->spacing_y;
    const double far = near + grid_->spacing_y;
    near_y_ = near * near;
    far_y_ = far * far;
    const double most = radii.most * radii.most * (1 + rounding) - near_y_;
    if (most < 0 || radii.most == 0) return;
    const double least = radii.least * radii.least * (1 - rounding) - far_y_;
    if (least > 0) distance_ = whole(std::sqrt(least) / grid_->spacing_x - 1);
    farthest_ = whole(std::sqrt(most) / grid_->spacing_x + 1);
    if (grid_->x_boundary == PlaneBoundary::zero) {
      const std::int64_t left = cell_x_;
      const std::int64_t right = grid_->n_x - 2 - cell_x_;
      const std::int64_t last = left > right ? left : right;
      if (farthest_ > last) farthest_ = last;
    }
  }
  RINGWEAVE_HOST_DEVICE static std::int64_t whole(double number) {
    if (number < 0) return 0;
    return number < 1e12 ? static_cast<std::int64_t>(number) : std::int64_t{1000000000000};
  }

  const RadiusGrid* grid_;
  const RowRadii* rows_;
  const double* radii_;
  std::int64_t cell_x_;
  std::int64_t cell_y_;
  std::int64_t y_;
  std::int64_t x_ = 0;
  std::int64_t row_ = 0;
  std::int64_t target_ = 0;
  std::int64_t distance_ = 0;
  std::int64_t farthest_ = -1;
  bool is_left_ = true;
  double near_y_ = 0;  ///< squares of the distances of the cell along y
  double far_y_ = 0;
};

/// Sums the moments of all arcs in a cell, times the results of their targets: a thread has a cell
/// and finds the circles that pass through it, so that sums have a fixed order.
template <int n_functions, int planes>
struct SumCells {
  using Shared = NoShared;
  static constexpr int least_blocks = n_functions == 2 ? 4 : 2;

  RadiusGrid grid;
  const RowRadii* rows;
  const double* radii;
  const double* results;  ///< [plane][target]
  double* cells;          ///< [plane][moment][cell]

  static std::int64_t n_blocks(std::int64_t n_cells) {
    return (n_cells + block_threads - 1) / block_threads;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    block.each([&](int thread) {
      const std::int64_t cell = block.index() * block_threads + thread;
      if (cell < grid.n_cells()) sum(cell);
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE void sum(std::int64_t cell) const {
    const std::int64_t y = cell / grid.cells_x;
    const std::int64_t x = cell - y * grid.cells_x;
    const std::int64_t n_targets = grid.n_targets();
    Array<ArcMoments<n_functions>, planes> sums;
    RINGWEAVE_UNROLL
    for (int p = 0; p < planes; ++p) sums[p].clear();
    const CellBox box{{x, x + 1}, {y, y + 1}};
    for (CellTargets targets(grid, rows, radii, x, y); targets.next();) {
      const GridCircle circle = circle_of(grid, targets.rho());
      if (circle.is_point()) continue;
      const GridPoint centre = targets.centre();
      QuadrantArcs arcs(circle, centre, box, targets.quadrant());
      const double images = targets.images();
      for (CircleArc arc; arcs.next(arc);) {
        ArcMoments<n_functions> moments;
        moments.clear();
        moments.add(circle, centre, arc, grid.rule, images);
        RINGWEAVE_UNROLL
        for (int p = 0; p < planes; ++p) {
          const double factor = results[p * n_targets + targets.target()];
          RINGWEAVE_UNROLL
          for (int j = 0; j < n_functions; ++j) {
            RINGWEAVE_UNROLL
            for (int i = 0; i < n_functions; ++i) sums[p].of[j][i] += factor * moments.of[j][i];
          }
        }
      }
    }
    const std::int64_t n_cells = grid.n_cells();
    RINGWEAVE_UNROLL
    for (int p = 0; p < planes; ++p) {
      RINGWEAVE_UNROLL
      for (int k = 0; k < n_functions * n_functions; ++k) {
        cells[(p * n_functions * n_functions + k) * n_cells + cell] =
            sums[p].of[k / n_functions][k % n_functions];
      }
    }
  }
};

/// Sums the moments of the four cells about each node, which gives the numbers of the node. A
/// circle that is a point gives to its node alone.
template <int n_functions>
struct SumCorners {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and row of nodes
  RadiusGrid grid;
  const double* radii;
  const double* results;
  const double* cells;
  double* nodes;  ///< [plane][node][numbers_of_node]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane_row, std::int64_t x) {
      const Quotient at = divide(plane_row, grid.n_y);  // plane, y
      Array<double, numbers> sums;
      RINGWEAVE_UNROLL
      for (int k = 0; k < numbers; ++k) sums[k] = 0;
      sums[0] = of_point(at.whole, at.rest, x);
      RINGWEAVE_UNROLL
      for (int j = 0; j < 2; ++j) {
        const std::int64_t cell_y = cell_of(grid.y_boundary, grid.cells_y, at.rest - j);
        RINGWEAVE_UNROLL
        for (int i = 0; i < 2; ++i) {
          const std::int64_t cell_x = cell_of(grid.x_boundary, grid.cells_x, x - i);
          if (cell_x < 0 || cell_y < 0) continue;
          add(at.whole, cell_y * grid.cells_x + cell_x, j, i, sums);
        }
      }
      double* const to = nodes + (plane_row * grid.n_x + x) * numbers;
      RINGWEAVE_UNROLL
      for (int k = 0; k < numbers; ++k) to[k] = sums[k];
    });
  }

 private:
  static constexpr int numbers = numbers_of_node<n_functions>;

  /// Returns the cell at a position, -1 for none.
  RINGWEAVE_HOST_DEVICE static std::int64_t cell_of(PlaneBoundary boundary, std::int64_t n_cells,
                                                    std::int64_t position) {
    if (position >= 0 && position < n_cells) return position;
    return boundary == PlaneBoundary::periodic ? n_cells - 1 : -1;
  }
  RINGWEAVE_HOST_DEVICE double of_point(std::int64_t plane, std::int64_t y, std::int64_t x) const {
    if (y < grid.row_begin || y >= grid.row_end) return 0;
    const std::int64_t target = (y - grid.row_begin) * grid.n_x + x;
    if (!circle_of(grid, radii[target]).is_point()) return 0;
    return results[plane * grid.n_targets() + target];
  }
  RINGWEAVE_HOST_DEVICE void add(std::int64_t plane, std::int64_t cell, int j, int i,
                                 double* sums) const {
    const std::int64_t n_cells = grid.n_cells();
    const double* const of = cells + plane * n_functions * n_functions * n_cells + cell;
    RINGWEAVE_UNROLL
    for (int k = 0; k < numbers; ++k)
      sums[k] += of[((j + k / 2 * 2) * n_functions + i + k % 2 * 2) * n_cells];
  }
};

/// Adds the transposed derivatives along one axis: numbers k and k + 2 (k + 1) of a node become
/// one.
struct SpreadDerivatives {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and row of nodes
  std::int64_t n_y;
  bool is_along_y;
  const DerivativeTaps::Tap* taps;
  const std::int64_t* begin;
  const double* from;  ///< [plane][node][4], along x [2]
  double* to;          ///< [plane][node][2], along x [1]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t x) {
      const Quotient at = divide(row, n_y);  // plane, y
      const std::int64_t count = is_along_y ? 2 : 1;
      const std::int64_t position = is_along_y ? at.rest : x;
      const std::int64_t node = row * pieces.row_length + x;
      for (std::int64_t k = 0; k < count; ++k) {
        double sum = from[node * 2 * count + k];
        for (std::int64_t t = begin[position]; t < begin[position + 1]; ++t) {
          const std::int64_t away = taps[t].node - position;
          const std::int64_t other = node + (is_along_y ? away * pieces.row_length : away);
          sum += taps[t].weight * from[other * 2 * count + count + k];
        }
        to[node * count + k] = sum;
      }
    });
  }
};

}  // namespace ringweave::detail::gpu
