// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"
#include "legendre/cuda/plan/fine_row_plan.hpp"
#include "sphere/row_position.hpp"

// Launches for columns before, between and after their FFTs in theta. A circle of 2 n samples goes
// through both poles: samples n and beyond are mirror images of the first n.
namespace ringweave::detail::gpu {

RINGWEAVE_HOST_DEVICE bool has_ring(const RingRange& rings, std::int64_t ring) {
  return ring >= rings.begin && ring < rings.end;
}

/// Columns of a group; the workspace has more if it is the last one, which are filled with zeros.
struct ThetaColumns {
  const ThetaColumn* columns;
  std::int64_t count;
  std::int64_t n_components;

  /// Returns the place of the mode of a column on an equidistant ring, among those of its part.
  RINGWEAVE_HOST_DEVICE std::int64_t place(const ThetaColumn& column, std::int64_t ring) const {
    return column.first + (ring - column.equidistant.begin) * n_components;
  }
};

/// Modes of fine rows where the caller has them.
template <class T>
struct FineModes {
  const std::int32_t* rings;  ///< [fine row] -1: none
  const RowSegment* segments;
  T* modes;  ///< [position][component][re, im]

  /// Returns the mode of a column in a row; null where there is none.
  RINGWEAVE_HOST_DEVICE T* mode(const ThetaColumns& columns, const ThetaColumn& column,
                                std::int64_t row) const {
    const std::int64_t ring = rings[row];
    if (ring < 0) return nullptr;
    const std::int64_t position =
        position_in(segments + column.first_segment, column.n_segments, ring);
    if (position < 0) return nullptr;
    return modes + 2 * (position * columns.n_components + column.component);
  }
  /// Returns whether the field of the column keeps the row, which has a ring, if it is alone.
  RINGWEAVE_HOST_DEVICE bool keeps(const ThetaColumn& column, std::int64_t row) const {
    return has_ring(column.own_targets, rings[row]);
  }
};

/// Fills circles with the modes of columns on equidistant rings.
struct FillCircles {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;
  ThetaColumns columns;
  const Double2* modes;
  Double2* circles;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      circles[row * pieces.row_length + k] = sample(row, k);
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE Double2 sample(std::int64_t row, std::int64_t k) const {
    if (row >= columns.count) return {0, 0};
    const ThetaColumn& column = columns.columns[row];
    const bool mirrored = 2 * k >= pieces.row_length;
    const std::int64_t ring = mirrored ? pieces.row_length - 1 - k : k;
    if (!has_ring(column.own_equidistant, ring)) return {0, 0};
    return scaled(mirrored ? column.parity : 1.0, modes[columns.place(column, ring)]);
  }
};

/// Applies the transpose of FillCircles.
struct FoldCircles {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a half of each circle of the group
  ThetaColumns columns;
  const Double2* circles;
  Double2* modes;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t ring) {
      const ThetaColumn& column = columns.columns[row];
      if (!has_ring(column.equidistant, ring)) return;
      Double2 value{0, 0};
      if (has_ring(column.own_equidistant, ring)) {
        const Double2* circle = circles + 2 * row * pieces.row_length;
        value = sum(circle[ring], scaled(column.parity, circle[2 * pieces.row_length - 1 - ring]));
      }
      modes[columns.place(column, ring)] = value;
    });
  }
};

/// Makes the coefficients of longer or shorter circles: those up to the degree are multiplied by
/// their turns and the factor of the order, others are zero.
struct ResizeSeries {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< of the circles made
  ThetaColumns columns;
  std::int64_t degree;
  std::int64_t from_length;
  const Double2* turns;
  double sign;  ///< -1: the turns are conjugated (adjoint)
  const Double2* from;
  Double2* to;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t i) {
      to[row * pieces.row_length + i] = coefficient(row, i);
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE Double2 coefficient(std::int64_t row, std::int64_t i) const {
    const std::int64_t below = pieces.row_length - i;  // coefficient -k is `below` = k from the end
    const bool positive = i <= degree;
    if (row >= columns.count || (!positive && below > degree)) return {0, 0};
    const Double2 turn = turns[positive ? i : below];
    const Double2 made =
        scaled(columns.columns[row].factor, {turn.x, positive ? sign * turn.y : -sign * turn.y});
    return product(made, from[row * from_length + (positive ? i : from_length - below)]);
  }
};

/// Stores samples of circles as modes of fine rows, all that the group has.
struct StoreFineRows {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a half of each circle of the group
  ThetaColumns columns;
  FineModes<double> target;
  const Double2* circles;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t fine_row) {
      const ThetaColumn& column = columns.columns[row];
      double* mode = target.mode(columns, column, fine_row);
      if (mode == nullptr) return;
      Double2 value{0, 0};
      if (target.keeps(column, fine_row)) value = circles[2 * row * pieces.row_length + fine_row];
      mode[0] = value.x;
      mode[1] = value.y;
    });
  }
};

/// Applies the transpose of StoreFineRows.
struct LoadFineRows {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;
  ThetaColumns columns;
  FineModes<const double> source;
  Double2* circles;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      circles[row * pieces.row_length + k] = sample(row, k);
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE Double2 sample(std::int64_t row, std::int64_t k) const {
    if (row >= columns.count || 2 * k >= pieces.row_length) return {0, 0};
    const ThetaColumn& column = columns.columns[row];
    const double* mode = source.mode(columns, column, k);
    if (mode == nullptr || !source.keeps(column, k)) return {0, 0};
    return {mode[0], mode[1]};
  }
};

}  // namespace ringweave::detail::gpu
