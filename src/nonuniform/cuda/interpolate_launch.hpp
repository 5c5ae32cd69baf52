// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "nonuniform/cuda/point_sum_plan.hpp"
#include "nonuniform/fine_grid.hpp"
#include "nonuniform/tap_polynomials.hpp"

namespace ringweave::detail::gpu {

/// Tables of a PointSumPlan that launches read, and the taps.
struct PointTables {
  static constexpr int most_taps = 16;

  FineGrid grid;
  TapPolynomials theta;
  TapPolynomials phi;
  const std::int64_t* first_value;
  const PointPlace* places;
  std::int64_t n_points;
  const SpreadTile* tiles;
  const TileVisit* visits;
  const std::int64_t* group_begins;
  const std::uint32_t* visited;
  std::int64_t n_groups;

  /// Returns a column of the row that stands for a row of the taps.
  RINGWEAVE_HOST_DEVICE std::int64_t wrapped(std::int64_t column, bool is_turned) const {
    if (is_turned) column += grid.n_columns / 2;
    while (column >= grid.n_columns) column -= grid.n_columns;
    return column;
  }
  /// Returns the first value of the rows of a point if this rank has all of them, one after the
  /// other, and none is beyond a pole; else a negative number.
  RINGWEAVE_HOST_DEVICE std::int64_t rows_in_sequence(const PointPlace& place) const {
    const int last = place.row + theta.width - 1;
    if (place.row < 0 || last >= grid.n_rows) return -1;
    const std::int64_t first = first_value[place.row];
    // Rows are in memory as on the sphere, so that none is missing between these.
    return first_value[last] == first + (theta.width - 1) * grid.n_columns ? first : -1;
  }
};

/// Components of rows or points in the memory of a device, `stride` values apart.
template <class T>
struct ComponentsAt {
  T* first;
  std::int64_t stride;
};

/// Sums over the taps of points, for `components` components. Each point has `lanes` threads, one
/// for each column of its taps, which go through its rows together: they read neighbouring values.
template <int lanes, int components>
struct InterpolatePoints {
  static constexpr int least_blocks = 6;
  static constexpr int points_together = block_threads / lanes;
  static constexpr int rounds = 8;
  static constexpr std::int64_t points_of_block = points_together * rounds;

  // One more than are needed, so that neighbouring points are in other banks.
  struct Shared {
    Array<Array<double, PointTables::most_taps + 1>, points_together> theta;
    Array<Array<Array<double, lanes + 1>, points_together>, components> sums;
  };

  PointTables tables;
  ComponentsAt<const double> rows;
  Array<double, components> beyond_pole;  ///< factor of rows beyond a pole
  ComponentsAt<double> values;

  std::int64_t n_blocks() const {
    return (tables.n_points + points_of_block - 1) / points_of_block;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t first = block.index() * points_of_block + round * points_together;
      if (first >= tables.n_points) break;
      const std::int64_t left = tables.n_points - first;
      const int n = left < points_together ? static_cast<int>(left) : points_together;
      block.each([&](int thread) {
        const int point = thread / lanes;
        if (point >= n) return;
        const double offset = tables.places[first + point].theta_offset;
        for (int tap = thread % lanes; tap < tables.theta.width; tap += lanes)
          shared.theta[point][tap] = tap_value(tables.theta, tap, offset);
      });
      block.sync();
      block.each([&](int thread) {
        const int point = thread / lanes;
        if (point >= n) return;
        const int lane = thread % lanes;
        Array<double, components> sums;
        sum_column(tables.places[first + point], lane, shared.theta[point], sums);
        RINGWEAVE_UNROLL
        for (int c = 0; c < components; ++c) shared.sums[c][point][lane] = sums[c];
      });
      block.sync();
      // Weights of the next round go where nothing is read here; sums follow the barrier after
      // them.
      block.each([&](int thread) {
        const int point = thread % points_together;
        const int c = thread / points_together;
        if (point >= n || c >= components) return;
        double sum = 0;
        RINGWEAVE_UNROLL
        for (int lane = 0; lane < lanes; ++lane) sum += shared.sums[c][point][lane];
        values.first[c * values.stride + first + point] = sum;
      });
    }
  }

 private:
  /// Sums a column of the taps, times its weight.
  RINGWEAVE_HOST_DEVICE void sum_column(const PointPlace& place, int lane, const double* theta,
                                        double* sums) const {
    RINGWEAVE_UNROLL
    for (int c = 0; c < components; ++c) sums[c] = 0;
    if (lane >= tables.phi.width) return;
    const int width = tables.theta.width;
    const std::int64_t column = tables.wrapped(place.column + lane, false);
    const std::int64_t sequence = tables.rows_in_sequence(place);
    if (sequence >= 0) {
      const double* from = rows.first + sequence + column;
      for (int tap = 0; tap < width; ++tap, from += tables.grid.n_columns)
        add(theta[tap], from, sums);
    } else {
      for (int tap = 0; tap < width; ++tap) {
        const FoldedRow row = folded_row(place.row + tap, tables.grid.n_rows);
        const std::int64_t first = tables.first_value[row.row];
        if (first < 0) continue;
        const double* const from = rows.first + first + tables.wrapped(column, row.is_turned);
        RINGWEAVE_UNROLL
        for (int c = 0; c < components; ++c) {
          const double weight = row.is_turned ? beyond_pole[c] * theta[tap] : theta[tap];
          sums[c] = std::fma(weight, from[c * rows.stride], sums[c]);
        }
      }
    }
    const double weight = tap_value(tables.phi, lane, place.phi_offset);
    RINGWEAVE_UNROLL
    for (int c = 0; c < components; ++c) sums[c] *= weight;
  }

  RINGWEAVE_HOST_DEVICE void add(double weight, const double* from, double* sums) const {
    RINGWEAVE_UNROLL
    for (int c = 0; c < components; ++c) sums[c] = std::fma(weight, from[c * rows.stride], sums[c]);
  }
};

}  // namespace ringweave::detail::gpu
