// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/cuda/block_types.hpp"
#include "legendre/legendre_stage.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::gpu {

/// One component of one order on its way through the FFTs in theta.
struct ThetaColumn {
  std::int64_t first;  ///< its mode on ring equidistant.begin, among those of its part
  RingRange equidistant;
  RingRange own_equidistant;   ///< rings that its field keeps if it is alone; others are zero
  RingRange own_targets;       ///< the same of the grid
  std::int64_t first_segment;  ///< of the modes of the order on the grid
  std::int64_t n_segments;
  std::int64_t component;
  double parity;  ///< f(-theta) = parity f(theta)
  double factor;  ///< DeconvolvedRows::order_factors
};

/// Plan of the FFTs in theta that turn modes on equidistant rings into those of fine rows: plain
/// data, computed without a device. Columns of some orders go through one workspace, so many at a
/// time as it has.
struct FineRowPlan {
  /// shape       its modes are fine rows
  /// parts       its rows, in ranges that are transformed one after the other; the modes of all
  ///             parts on equidistant rings are in the same memory
  /// most_bytes  limit for the workspace of columns; one column is always allowed
  /// Error       UsageError when a ring is not a row, rows fold, or factors do not fit to the a_lm.
  FineRowPlan(const LegendreShape& shape, std::span<const RowRange> parts, std::int64_t most_bytes);

  /// Returns the bytes of a column on both circles, and the work memory of its FFTs.
  std::int64_t column_bytes() const;

  LegendreShape sums;           ///< of the stage that sums the modes on the equidistant rings
  std::vector<RowRange> parts;  ///< as given
  std::int64_t n_components;
  std::int64_t degree;               ///< lmax
  std::int64_t coarse_length;        ///< samples of the whole circle through equidistant rings
  std::int64_t fine_length;          ///< and of that through fine rows
  std::int64_t n_columns;            ///< of the workspace
  std::vector<ThetaColumn> columns;  ///< [row][component]
  std::vector<RowSegment> segments;
  std::vector<std::int32_t> rings;  ///< [fine row] its ring of the grid; -1: none
  /// [k = 0..lmax] Factor of coefficient k: theta_factors[k], the scale of the FFTs, and the turn
  /// from the first ring to the first row.
  std::vector<Double2> turns;
};

}  // namespace ringweave::detail::gpu
