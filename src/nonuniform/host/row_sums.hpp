// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "nonuniform/fine_grid.hpp"
#include "nonuniform/tap_polynomials.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline nonuniform {

/// Grid, weights and places of rows, for sums over the taps of points.
struct RowTaps {
  FineGrid grid;
  TapPolynomials theta;
  TapPolynomials phi;
  /// [row of the grid] its first value among those of a component; negative: another rank's. They
  /// ascend with the rows, each `n_columns` values or more after the one before.
  std::span<const std::int64_t> first_value;
  std::span<const double> beyond_pole;  ///< [component] factor of rows beyond a pole, (-1)^spin
};

/// Points of this rank, in radians: 0 <= theta <= pi, any phi.
struct PointSpan {
  const double* theta;
  const double* phi;
  std::int64_t size;
};

/// Overwrites values with sums over this rank's rows around each point.
/// rows    [component][value], `row_stride` values a component
/// values  [component][point], `value_stride` values a component
/// No allocation. Not collective.
void interpolate_points(const RowTaps& taps, const double* rows, std::int64_t row_stride,
                        PointSpan points, double* values, std::int64_t value_stride) noexcept;

/// Adds to the rows within `range` their part of the transpose of interpolate_points(), point by
/// point in their order.
void spread_points(const RowTaps& taps, PointSpan points, const double* values,
                   std::int64_t value_stride, RingRange range, double* rows,
                   std::int64_t row_stride) noexcept;

}  // namespace ringweave::detail::inline nonuniform
