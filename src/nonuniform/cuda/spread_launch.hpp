// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "nonuniform/cuda/interpolate_launch.hpp"

namespace ringweave::detail::gpu {

/// Applies the transpose of InterpolatePoints: overwrites all rows of this rank with sums over the
/// points that touch them. A block has the rows of a tile and some columns, a thread one column,
/// whose sums stay in registers. The weights of some points at a time are computed in shared
/// memory, and every thread adds those that touch its column. So the order of a sum follows from
/// the points alone, and nothing is added to memory.
template <int components>
struct SpreadPoints {
  static constexpr int least_blocks = components == 1 ? 5 : 4;
  static constexpr int points_together = 32;
  static constexpr int n_rows = SpreadTile::n_rows;
  static constexpr int most_taps = PointTables::most_taps;

  struct Shared {
    Array<Array<double, n_rows>, points_together> theta;  ///< [point][row of the tile]
    Array<Array<double, most_taps>, points_together> phi;
    Array<Array<double, components>, points_together> values;
    Array<std::int32_t, points_together> columns;  ///< where taps begin
  };
  /// Sums of a column.
  struct Sums {
    Array<Array<double, n_rows>, components> of;
  };

  PointTables tables;
  std::int64_t n_pieces;  ///< blocks of a tile
  ComponentsAt<const double> values;
  Array<double, components> beyond_pole;
  ComponentsAt<double> rows;

  static std::int64_t pieces(std::int64_t n_columns) {
    return (n_columns + block_threads - 1) / block_threads;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), n_pieces);
    const SpreadTile own_tile = tables.tiles[at.whole];
    const std::int64_t first_column = at.rest * block_threads;
    typename Block::template PerThread<Sums> sums;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int c = 0; c < components; ++c) {
        RINGWEAVE_UNROLL
        for (int r = 0; r < n_rows; ++r) sums[thread].of[c][r] = 0;
      }
    });
    for (std::int64_t v = 0; v < own_tile.n_visits; ++v) {
      const TileVisit visit = tables.visits[own_tile.first_visit + v];
      const std::int64_t first = tables.wrapped(first_column, visit.step < 0);
      const Visited points = visited(visit, first, tables.grid.n_columns - first_column);
      for (std::int64_t i = 0; i < points.size; i += points_together) {
        const std::int64_t left = points.size - i;
        const int n = left < points_together ? static_cast<int>(left) : points_together;
        block.sync();
        block.each(
            [&](int thread) { compute_weights(own_tile, visit, points, i, n, thread, shared); });
        block.sync();
        block.each([&](int thread) {
          const auto column = static_cast<std::int32_t>(tables.wrapped(first + thread, false));
          for (int point = 0; point < n; ++point) add(shared, point, column, sums[thread]);
        });
      }
    }
    block.each([&](int thread) {
      const std::int64_t column = first_column + thread;
      if (column >= tables.grid.n_columns) return;
      RINGWEAVE_UNROLL
      for (int r = 0; r < n_rows; ++r) {
        const std::int64_t row = own_tile.first_row + r;
        if (row >= tables.grid.n_rows) continue;
        const std::int64_t to = tables.first_value[row];
        if (to < 0) continue;
        RINGWEAVE_UNROLL
        for (int c = 0; c < components; ++c)
          rows.first[c * rows.stride + to + column] = sums[thread].of[c][r];
      }
    });
  }

 private:
  /// Points of consecutive groups of columns, the first of which follows the last one of a row:
  /// tables.visited[first, first + until_end), then from `start` on.
  struct Visited {
    std::int64_t first;
    std::int64_t until_end;
    std::int64_t start;
    std::int64_t size;

    RINGWEAVE_HOST_DEVICE std::int64_t place(std::int64_t i) const {
      return i < until_end ? first + i : start + i - until_end;
    }
  };

  /// Returns the points that may touch a block's columns from `first` on, of which `left` are left
  /// in the row.
  RINGWEAVE_HOST_DEVICE Visited visited(const TileVisit& visit, std::int64_t first,
                                        std::int64_t left) const {
    const std::int64_t* const begins = tables.group_begins + visit.first_begin;
    const std::int64_t n = tables.grid.n_columns;
    const std::int64_t size = left < block_threads ? left : block_threads;
    const std::int64_t before = tables.phi.width - 1;
    std::int64_t group = 0;
    std::int64_t end = tables.n_groups;
    if (size + before + PointSumPlan::group_columns <= n) {
      group = (first < before ? first - before + n : first - before) / PointSumPlan::group_columns;
      end = tables.wrapped(first + size - 1, false) / PointSumPlan::group_columns + 1;
    }
    if (group < end) {
      const std::int64_t count = begins[end] - begins[group];
      return {begins[group], count, begins[0], count};
    }
    const std::int64_t until_end = begins[tables.n_groups] - begins[group];
    return {begins[group], until_end, begins[0], until_end + begins[end] - begins[0]};
  }

  /// Adds a point to the sums of a thread, whose column is `column` of the taps.
  RINGWEAVE_HOST_DEVICE void add(const Shared& shared, int point, std::int32_t column,
                                 Sums& sums) const {
    std::int32_t tap = column - shared.columns[point];
    if (tap < 0) tap += static_cast<std::int32_t>(tables.grid.n_columns);
    if (tap >= tables.phi.width) return;
    RINGWEAVE_UNROLL
    for (int c = 0; c < components; ++c) {
      const double value = shared.values[point][c] * shared.phi[point][tap];
      RINGWEAVE_UNROLL
      for (int r = 0; r < n_rows; ++r)
        sums.of[c][r] = std::fma(shared.theta[point][r], value, sums.of[c][r]);
    }
  }

  /// Computes weights and values of points; each warp has some of them, a lane one row or column.
  RINGWEAVE_HOST_DEVICE void compute_weights(const SpreadTile& own_tile, const TileVisit& visit,
                                             const Visited& points, std::int64_t begin, int n,
                                             int thread, Shared& shared) const {
    const int slot = thread % warp_lanes;
    const bool is_row = slot < n_rows;
    const TapPolynomials taps = is_row ? tables.theta : tables.phi;
    const auto row =
        static_cast<std::int32_t>(visit.origin + visit.step * (own_tile.first_row + slot));
    for (int point = thread / warp_lanes; point < n; point += block_warps) {
      const std::uint32_t number = tables.visited[points.place(begin + point)];
      const PointPlace place = tables.places[number];
      const int tap = is_row ? row - place.row : slot - n_rows;
      double weight = 0;
      if (tap >= 0 && tap < taps.width)
        weight = tap_value(taps, tap, is_row ? place.theta_offset : place.phi_offset);
      (is_row ? shared.theta[point][slot] : shared.phi[point][slot - n_rows]) = weight;
      if (slot == 0) shared.columns[point] = place.column;
      RINGWEAVE_UNROLL
      for (int c = 0; c < components; ++c) {
        if (slot != c) continue;
        const double value = values.first[c * values.stride + number];
        shared.values[point][c] = visit.step < 0 ? beyond_pole[c] * value : value;
      }
    }
  }
};

static_assert(SpreadTile::n_rows + PointTables::most_taps == warp_lanes);

}  // namespace ringweave::detail::gpu
