// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"
#include "gyro/cuda/side_plan.hpp"
#include "gyro/side_lines.hpp"
#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::gpu {

/// Planes on a device, [plane][row][x]: those loaded, with the work of their sides, and results:
/// sums of own rows, with work of theirs.
struct StencilPlanes {
  double* held = nullptr;
  double* sums = nullptr;
  double* work = nullptr;
  double* sums_work = nullptr;

  RINGWEAVE_HOST_DEVICE double* held_of(const SideLayout& layout, std::int64_t plane) const {
    return held + plane * layout.held_rows * layout.n_x;
  }
  RINGWEAVE_HOST_DEVICE double* sums_of(const SideLayout& layout, std::int64_t plane) const {
    return sums + plane * layout.n_rows * layout.n_x;
  }
  RINGWEAVE_HOST_DEVICE double* work_of(const SideLayout& layout, std::int64_t plane) const {
    return work + plane * layout.work_size;
  }
  RINGWEAVE_HOST_DEVICE double* sums_work_of(const SideLayout& layout, std::int64_t plane) const {
    return sums_work + plane * layout.work_size;
  }
};

/// Tables of a SidePlan, see there.
struct SideRows {
  const std::int32_t* x_source_rows = nullptr;
  const std::int32_t* x_target_rows = nullptr;
  const std::int32_t* y_source_columns = nullptr;
  const std::int32_t* y_target_columns = nullptr;
  const std::int32_t* y_source_rows = nullptr;
  const std::int32_t* y_target_rows = nullptr;
  const std::int32_t* line_of_row = nullptr;
};

/// A SideTable.
struct SideWeights {
  const std::int64_t* run_begin = nullptr;
  const SideTable::Run* runs = nullptr;
  const double* weights = nullptr;
  std::int64_t n_targets = 0;

  /// Returns the sum of the taps of source p and target a along a line that continues beyond its
  /// ends by `reach`.
  RINGWEAVE_HOST_DEVICE double sum(std::int64_t p, std::int64_t a, std::int64_t reach,
                                   const double* at) const {
    const std::int64_t* const range = run_begin + p * n_targets + a;
    double sum = 0;
    for (std::int64_t r = range[0]; r < range[1]; ++r) {
      const SideTable::Run run = runs[r];
      const double* const of_run = weights + run.begin;
      const std::int64_t left = reach + 1 - run.first;
      const std::int64_t count = run.count < left ? run.count : left;
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t offset = run.first + k;
        const double both = offset == 0 ? at[0] : at[-offset] + at[offset];
        sum = std::fma(of_run[k], both, sum);
      }
    }
    return sum;
  }
};

/// CornerLists.
struct CornerWeights {
  std::int64_t n_a = 0;
  std::int64_t n_b = 0;
  const std::int32_t* target_begin = nullptr;
  const std::int32_t* sources = nullptr;
  const double* source_weights = nullptr;
  const std::int32_t* source_begin = nullptr;
  const CornerLists::Target* targets = nullptr;
  const double* target_weights = nullptr;
};

/// Adds weight times the own rows that were loaded to the sums, where sources are whole.
struct AddIdentity {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane of sums
  SideLayout layout;
  StencilPlanes planes;
  RowRange x_given;
  RowRange y_given;
  double weight;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const Quotient at = divide(i, layout.n_x);
      if (at.rest < x_given.begin || at.rest >= x_given.end || at.whole < y_given.begin ||
          at.whole >= y_given.end)
        return;
      double& sum = planes.sums_of(layout, plane)[i];
      sum = std::fma(weight, planes.held_of(layout, plane)[layout.first_own * layout.n_x + i], sum);
    });
  }
};

/// Copies the outermost sources, as lines with their continuation, and those in corners.
struct LoadSources {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane: values() of it
  SideLayout layout;
  StencilPlanes planes;
  SideRows rows;

  static std::int64_t values(const SideLayout& layout) {
    return 2 * layout.margin * (of_line(layout.x) + of_line(layout.y)) +
           (layout.has_corners ? 4 * layout.margin * layout.margin : 0);
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const double* const held = planes.held_of(layout, plane);
      double* const work = planes.work_of(layout, plane);
      const std::int64_t of_x = 2 * layout.margin * of_line(layout.x);
      const std::int64_t of_y = 2 * layout.margin * of_line(layout.y);
      if (i < of_x) {
        load_column(divide(i, of_line(layout.x)), held, work);
      } else if (i < of_x + of_y) {
        load_row(divide(i - of_x, of_line(layout.y)), held, work);
      } else {
        load_corner(i - of_x - of_y, held, work);
      }
    });
  }

 private:
  static RINGWEAVE_HOST_DEVICE std::int64_t of_line(const SideLines& lines) {
    return lines.is_used ? lines.length + 2 * lines.reach : 0;
  }
  RINGWEAVE_HOST_DEVICE double value(const double* held, std::int64_t row,
                                     std::int64_t column) const {
    return row < 0 || column < 0 ? 0 : held[row * layout.n_x + column];
  }
  RINGWEAVE_HOST_DEVICE void load_column(const Quotient& at, const double* held,
                                         double* work) const {
    const Quotient line = divide(at.whole, layout.margin);
    const std::int64_t column = layout.x.from_end(line.whole, line.rest);
    work[layout.x.source(line.whole, line.rest) + at.rest - layout.x.reach] =
        value(held, rows.x_source_rows[at.rest], column);
  }
  RINGWEAVE_HOST_DEVICE void load_row(const Quotient& at, const double* held, double* work) const {
    const Quotient line = divide(at.whole, layout.margin);
    work[layout.y.source(line.whole, line.rest) + at.rest - layout.y.reach] =
        value(held, rows.y_source_rows[at.whole], rows.y_source_columns[at.rest]);
  }
  /// i  [end of y][end of x][q][p]
  RINGWEAVE_HOST_DEVICE void load_corner(std::int64_t i, const double* held, double* work) const {
    const Quotient of_corner = divide(i, layout.margin * layout.margin);
    const Quotient source = divide(of_corner.rest, layout.margin);
    const std::int64_t row = rows.y_source_rows[of_corner.whole / 2 * layout.margin + source.whole];
    work[layout.corners + i] =
        value(held, row, layout.x.from_end(of_corner.whole % 2, source.rest));
  }
};

/// Adds the taps of the sources next to both ends to a line of targets at one position.
RINGWEAVE_HOST_DEVICE double sum_of_sources(const SideLines& lines, const SideWeights& table,
                                            std::int64_t line, std::int64_t position,
                                            const double* work) {
  double sum = 0;
  for (std::int64_t end = 0; end < 2; ++end) {
    const std::int64_t a = end == 0 ? line : lines.n_targets - 1 - line;
    if (a >= table.n_targets) continue;
    for (std::int64_t p = 0; p < lines.margin; ++p)
      sum += table.sum(p, a, lines.reach, work + lines.source(end, p) + position);
  }
  return sum;
}

/// Adds the shares of columns of sources to columns of targets, which stay lines.
struct SumColumns {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and line of targets
  SideLayout layout;
  StencilPlanes planes;
  SideWeights table;
  double weight;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      const Quotient at = divide(row, layout.x.n_targets);
      const double* const work = planes.work_of(layout, at.whole);
      double& to = planes.sums_work_of(layout, at.whole)[layout.x.target_line(at.rest) + k];
      to = std::fma(weight, sum_of_sources(layout.x, table, at.rest, k, work), to);
    });
  }
};

/// Adds the shares of rows of sources, and of sources in corners, to targets.
struct SumRows {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and own row
  SideLayout layout;
  StencilPlanes planes;
  SideRows rows;
  SideWeights table;
  CornerWeights corners;
  double weight;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t x) {
      const Quotient at = divide(row, layout.n_rows);
      const std::int64_t line = rows.line_of_row[at.rest];
      if (line < 0) return;
      const double* const work = planes.work_of(layout, at.whole);
      double sum = sum_of_sources(layout.y, table, line, x, work);
      for (std::int64_t i = 0; i < 4 && layout.has_corners; ++i) {
        const std::int64_t a = layout.x.from_end(i % 2, x);
        const std::int64_t b = layout.y.from_end(i / 2, layout.first_row + at.rest);
        sum += sum_of_corner(a, b, work + layout.corner(i % 2, i / 2));
      }
      double& to = planes.sums_of(layout, at.whole)[at.rest * layout.n_x + x];
      to = std::fma(weight, sum, to);
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE double sum_of_corner(std::int64_t a, std::int64_t b,
                                             const double* values) const {
    double sum = 0;
    if (a >= corners.n_a || b >= corners.n_b) return sum;
    const std::int32_t* const range = corners.target_begin + b * corners.n_a + a;
    for (std::int32_t i = range[0]; i < range[1]; ++i)
      sum = std::fma(corners.source_weights[i], values[corners.sources[i]], sum);
    return sum;
  }
};

/// Values on their way from rows to columns: a tile of as many lines as positions.
struct TurningTile {
  static constexpr int side = 32;
  static constexpr int rows_together = block_threads / side;
  Array<Array<double, side + 1>, side> values;  ///< [line][position]

  static RINGWEAVE_HOST_DEVICE std::int64_t tiles(std::int64_t n) { return (n + side - 1) / side; }
};

/// Adds the sums of columns of targets to the sums.
struct AddColumns {
  using Shared = TurningTile;
  static constexpr int least_blocks = 8;
  SideLayout layout;
  StencilPlanes planes;

  std::int64_t n_blocks(std::int64_t n_planes) const {
    return n_planes * Shared::tiles(layout.x.n_targets) * Shared::tiles(layout.n_rows);
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient of_line = divide(block.index(), Shared::tiles(layout.n_rows));
    const Quotient of_plane = divide(of_line.whole, Shared::tiles(layout.x.n_targets));
    const std::int64_t first_row = of_line.rest * Shared::side;
    const std::int64_t first_line = of_plane.rest * Shared::side;
    const double* const work = planes.sums_work_of(layout, of_plane.whole);
    double* const sums = planes.sums_of(layout, of_plane.whole);
    block.each([&](int thread) {
      const int j = thread % Shared::side;
      for (int i = thread / Shared::side; i < Shared::side; i += Shared::rows_together) {
        if (first_line + i < layout.x.n_targets && first_row + j < layout.n_rows)
          shared.values[i][j] = work[layout.x.target_line(first_line + i) + first_row + j];
      }
    });
    block.sync();
    block.each([&](int thread) {
      const int i = thread % Shared::side;
      const std::int64_t line = first_line + i;
      if (line >= layout.x.n_targets) return;
      const std::int64_t column = layout.x.of_target_line(line);
      for (int j = thread / Shared::side; j < Shared::side; j += Shared::rows_together) {
        if (first_row + j < layout.n_rows)
          sums[(first_row + j) * layout.n_x + column] += shared.values[i][j];
      }
    });
  }
};

/// Copies the columns of targets to lines, with their continuation.
struct LoadTargetColumns {
  using Shared = TurningTile;
  static constexpr int least_blocks = 8;
  SideLayout layout;
  StencilPlanes planes;
  SideRows rows;

  RINGWEAVE_HOST_DEVICE std::int64_t n_positions() const {
    return layout.x.length + 2 * layout.x.reach;
  }
  std::int64_t n_blocks(std::int64_t n_planes) const {
    return n_planes * Shared::tiles(layout.x.n_targets) * Shared::tiles(n_positions());
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient of_line = divide(block.index(), Shared::tiles(n_positions()));
    const Quotient of_plane = divide(of_line.whole, Shared::tiles(layout.x.n_targets));
    const std::int64_t first_position = of_line.rest * Shared::side;
    const std::int64_t first_line = of_plane.rest * Shared::side;
    const double* const held = planes.held_of(layout, of_plane.whole);
    double* const work = planes.work_of(layout, of_plane.whole);
    block.each([&](int thread) {
      const int i = thread % Shared::side;
      const std::int64_t line = first_line + i;
      if (line >= layout.x.n_targets) return;
      const std::int64_t column = layout.x.of_target_line(line);
      for (int j = thread / Shared::side; j < Shared::side; j += Shared::rows_together) {
        if (first_position + j >= n_positions()) continue;
        const std::int64_t row = rows.x_target_rows[first_position + j];
        shared.values[i][j] = row < 0 ? 0 : held[row * layout.n_x + column];
      }
    });
    block.sync();
    block.each([&](int thread) {
      const int j = thread % Shared::side;
      const std::int64_t position = first_position + j;
      if (position >= n_positions()) return;
      for (int i = thread / Shared::side; i < Shared::side; i += Shared::rows_together) {
        if (first_line + i < layout.x.n_targets)
          work[layout.x.target_line(first_line + i) + position - layout.x.reach] =
              shared.values[i][j];
      }
    });
  }
};

/// Copies the rows of targets to lines, with their continuation.
struct LoadTargetRows {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and line of targets
  SideLayout layout;
  StencilPlanes planes;
  SideRows rows;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t of_line, std::int64_t k) {
      const Quotient at = divide(of_line, layout.y.n_targets);
      const std::int64_t row = rows.y_target_rows[at.rest];
      const std::int64_t column = rows.y_target_columns[k];
      double value = 0;
      if (row >= 0 && column >= 0)
        value = planes.held_of(layout, at.whole)[row * layout.n_x + column];
      planes.work_of(layout, at.whole)[layout.y.target_line(at.rest) + k - layout.y.reach] = value;
    });
  }
};

/// Adds the shares of targets to a line of sources, at as many positions as a warp has lanes. Warps
/// share the lines of targets.
struct GatherLines {
  struct Shared {
    Array<Array<double, warp_lanes>, block_warps> sums;
  };
  static constexpr int least_blocks = 8;
  SideLayout layout;
  StencilPlanes planes;
  SideLines lines;
  RowRange sources[2];  ///< of this rank, next to each end
  SideWeights table;
  double weight;

  RINGWEAVE_HOST_DEVICE std::int64_t pieces() const {
    return (lines.length + warp_lanes - 1) / warp_lanes;
  }
  std::int64_t n_blocks(std::int64_t n_planes) const {
    return n_planes * 2 * lines.margin * pieces();
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient of_piece = divide(block.index(), pieces());
    const Quotient of_source = divide(of_piece.whole, lines.margin);
    const std::int64_t p = of_source.rest;
    const std::int64_t end = of_source.whole % 2;
    const std::int64_t plane = of_source.whole / 2;
    if (p < sources[end].begin || p >= sources[end].end) return;
    const double* const work = planes.work_of(layout, plane);
    block.each([&](int thread) {
      const std::int64_t k = of_piece.rest * warp_lanes + thread % warp_lanes;
      double sum = 0;
      if (k < lines.length) {
        for (std::int64_t a = thread / warp_lanes; a < table.n_targets; a += block_warps)
          sum += table.sum(p, a, lines.reach, work + lines.target(end, a) + k);
      }
      shared.sums[thread / warp_lanes][thread % warp_lanes] = sum;
    });
    block.sync();
    block.each([&](int thread) {
      const std::int64_t k = of_piece.rest * warp_lanes + thread;
      if (thread >= warp_lanes || k >= lines.length) return;
      double sum = 0;
      for (int warp = 0; warp < block_warps; ++warp) sum += shared.sums[warp][thread];
      double& to = planes.sums_work_of(layout, plane)[lines.source(end, p) + k];
      to = std::fma(weight, sum, to);
    });
  }
};

/// Adds the shares of targets to a source in a corner.
struct GatherCorners {
  struct Shared {
    Array<double, block_warps> sums;
  };
  static constexpr int least_blocks = 8;
  SideLayout layout;
  StencilPlanes planes;
  CornerWeights corners;
  double weight;

  std::int64_t n_blocks(std::int64_t n_planes) const {
    return n_planes * 4 * layout.margin * layout.margin;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const std::int64_t n_sources = layout.margin * layout.margin;
    const Quotient of_source = divide(block.index(), n_sources);
    const std::int64_t plane = of_source.whole / 4;
    const std::int64_t end_y = of_source.whole / 2 % 2;
    const std::int64_t end_x = of_source.whole % 2;
    const std::int64_t q = divide(of_source.rest, layout.margin).whole;
    if (q < layout.y_sources[end_y].begin || q >= layout.y_sources[end_y].end) return;
    const double* const work = planes.work_of(layout, plane);
    const std::int32_t begin = corners.source_begin[of_source.rest];
    const std::int32_t end = corners.source_begin[of_source.rest + 1];
    typename Block::template PerThread<Array<double, 1>> sums;
    typename Block::template PerThread<bool> wanted;
    block.each([&](int thread) {
      wanted[thread] = true;
      sums[thread][0] = 0;
      for (std::int32_t i = begin + thread; i < end; i += block_threads) {
        const CornerLists::Target target = corners.targets[i];
        const std::int64_t position = layout.y.from_end(end_y, target.b) - layout.first_row;
        sums[thread][0] =
            std::fma(corners.target_weights[i], work[layout.x.target(end_x, target.a) + position],
                     sums[thread][0]);
      }
    });
    block.template sum_lanes<1>(sums, wanted);
    block.each([&](int thread) {
      if (thread % warp_lanes == 0) shared.sums[thread / warp_lanes] = sums[thread][0];
    });
    block.sync();
    block.each([&](int thread) {
      if (thread > 0) return;
      double sum = 0;
      for (int warp = 0; warp < block_warps; ++warp) sum += shared.sums[warp];
      double* const of_sums = planes.sums_work_of(layout, plane);
      double& to = of_sums[layout.corner(end_x, end_y) + of_source.rest];
      to = std::fma(weight, sum, to);
    });
  }
};

/// Overwrites the outermost sources in the sums.
struct StoreSources {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane of sums
  SideLayout layout;
  StencilPlanes planes;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const Quotient at = divide(i, layout.n_x);
      const std::int64_t row = layout.first_row + at.whole;
      const std::int64_t margin = layout.margin;
      const std::int64_t end_y = row < margin ? 0 : 1;
      const std::int64_t q = end_y == 0 ? row : layout.n_y - 1 - row;
      const std::int64_t end_x = at.rest < margin ? 0 : 1;
      const std::int64_t p = end_x == 0 ? at.rest : layout.n_x - 1 - at.rest;
      const bool is_x = layout.x.is_used && p < margin;
      const bool is_y = layout.y_ends && q < margin;
      if (!is_x && !is_y) return;
      std::int64_t from = layout.y.source(end_y, q) + at.rest;
      if (is_x)
        from = is_y ? layout.corner(end_x, end_y) + q * margin + p
                    : layout.x.source(end_x, p) + at.whole;
      planes.sums_of(layout, plane)[i] = planes.sums_work_of(layout, plane)[from];
    });
  }
};

}  // namespace ringweave::detail::gpu
