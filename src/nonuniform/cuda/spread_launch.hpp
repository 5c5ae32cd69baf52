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
/// points that touch them. A block has the rows of a tile and some columns, a warp 32 of these, a
/// thread one column, whose sums stay in registers. A warp computes the weights of some points at a
/// time in shared memory, of those that may touch its columns, and every lane adds those that do.
/// So the order of a sum follows from the points alone, and nothing is added to memory.
/// lanes  those that compute the weights of a point, half of them rows and half of them columns:
///        16 for up to 8 taps, 32 for more
template <int lanes, int components>
struct SpreadPoints {
  static constexpr int least_blocks = components == 1 ? 5 : 4;
  static constexpr int points_together = 8;  ///< of a warp
  static constexpr int n_rows = SpreadTile::n_rows;
  static constexpr int most_taps = PointTables::most_taps;

  /// The points of a warp.
  struct Points {
    Array<Array<double, n_rows>, points_together> theta;  ///< [point][row of the tile]
    Array<Array<double, most_taps>, points_together> phi;
    Array<Array<double, components>, points_together> values;
    Array<std::int32_t, points_together> columns;  ///< where taps begin
  };
  struct Shared {
    Array<Points, block_warps> points;
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
    typename Block::template PerThread<Visited> of_warp;
    for (std::int64_t v = 0; v < own_tile.n_visits; ++v) {
      const TileVisit visit = tables.visits[own_tile.first_visit + v];
      block.each(
          [&](int thread) { of_warp[thread] = visited(visit, first_column, thread / warp_lanes); });
      std::int64_t most = 0;
      for (int warp = 0; warp < block_warps; ++warp) {
        const std::int64_t size = visited(visit, first_column, warp).size;
        if (size > most) most = size;
      }
      for (std::int64_t i = 0; i < most; i += points_together) {
        block.sync();
        block.each([&](int thread) {
          compute_weights(own_tile, visit, of_warp[thread], i, thread,
                          shared.points[thread / warp_lanes]);
        });
        block.sync();
        block.each([&](int thread) {
          const std::int64_t left = of_warp[thread].size - i;
          const int n = left < points_together ? static_cast<int>(left) : points_together;
          const auto column =
              static_cast<std::int32_t>(tables.wrapped(first_column + thread, visit.step < 0));
          for (int point = 0; point < n; ++point)
            add(shared.points[thread / warp_lanes], point, column, sums[thread]);
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

  /// Returns the points that may touch the columns of a warp of the block whose first column is
  /// this, of the row that the visit turns.
  RINGWEAVE_HOST_DEVICE Visited visited(const TileVisit& visit, std::int64_t first_column,
                                        int warp) const {
    const std::int64_t unturned = first_column + warp * warp_lanes;
    const std::int64_t n = tables.grid.n_columns;
    const std::int64_t left = n - unturned;
    if (left <= 0) return {0, 0, 0, 0};
    const std::int64_t first = tables.wrapped(unturned, visit.step < 0);
    const std::int64_t size = left < warp_lanes ? left : warp_lanes;
    const std::int64_t before = tables.phi.width - 1;
    const std::int64_t* const begins = tables.group_begins + visit.first_begin;
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
  RINGWEAVE_HOST_DEVICE void add(const Points& points, int point, std::int32_t column,
                                 Sums& sums) const {
    std::int32_t tap = column - points.columns[point];
    if (tap < 0) tap += static_cast<std::int32_t>(tables.grid.n_columns);
    if (tap >= tables.phi.width) return;
    RINGWEAVE_UNROLL
    for (int c = 0; c < components; ++c) {
      const double value = points.values[point][c] * points.phi[point][tap];
      RINGWEAVE_UNROLL
      for (int r = 0; r < n_rows; ++r)
        sums.of[c][r] = std::fma(points.theta[point][r], value, sums.of[c][r]);
    }
  }

  /// Computes weights and values of the points from `begin` on. A lane has one tap of some.
  RINGWEAVE_HOST_DEVICE void compute_weights(const SpreadTile& own_tile, const TileVisit& visit,
                                             const Visited& visited, std::int64_t begin, int thread,
                                             Points& points) const {
    constexpr int taps_of_lanes = lanes / 2;
    static_assert(taps_of_lanes == n_rows || 2 * taps_of_lanes == n_rows);
    const int tap = thread % taps_of_lanes;
    const bool is_row = thread % lanes < taps_of_lanes;
    const TapPolynomials taps = is_row ? tables.theta : tables.phi;
    const auto step = static_cast<std::int32_t>(visit.step);
    // Of the tile, for taps that begin at row 0.
    const auto first_row =
        static_cast<std::int32_t>(visit.step * (tap - visit.origin) - own_tile.first_row);
    for (int point = thread % warp_lanes / lanes; point < points_together;
         point += warp_lanes / lanes) {
      if (begin + point >= visited.size) break;
      const std::uint32_t number = tables.visited[visited.place(begin + point)];
      const PointPlace place = tables.places[number];
      double weight = 0;
      if (tap < taps.width)
        weight = tap_value(taps, tap, is_row ? place.theta_offset : place.phi_offset);
      if (is_row) {
        // Rows beyond the tile are as far from one another as those of the tile.
        const std::int32_t row = first_row + step * place.row;
        Array<double, n_rows>& to = points.theta[point];
        to[row & (n_rows - 1)] = row >= 0 && row < n_rows ? weight : 0.0;
        if (taps_of_lanes < n_rows) to[(row + taps_of_lanes) & (n_rows - 1)] = 0;
      } else {
        points.phi[point][tap] = weight;
      }
      if (thread % lanes == 0) points.columns[point] = place.column;
      RINGWEAVE_UNROLL
      for (int c = 0; c < components; ++c) {
        if (thread % lanes != c) continue;
        const double value = values.first[c * values.stride + number];
        points.values[point][c] = visit.step < 0 ? beyond_pole[c] * value : value;
      }
    }
  }
};

static_assert(SpreadTile::n_rows == PointTables::most_taps);

}  // namespace ringweave::detail::gpu
