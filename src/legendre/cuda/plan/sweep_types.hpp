// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::gpu {

/// Steps between two looks at the range of values. Every order has a whole number of chunks,
/// padded with zeros.
inline constexpr int chunk = 8;
/// Steps that lie in shared memory together.
inline constexpr int tile = 32;

/// Values are p * 2^(800 scale), scale <= 0; only those with scale 0 count. A chunk grows a value
/// by less than 2^160, so one below 2^580 when scaled up by a step of scale stays below 2^-60.
inline constexpr double scale_bits = 800;
inline constexpr double tiny_bits = 60;
inline constexpr double two_to_minus_800 = 0x1p-800;
inline constexpr double near_the_range = 0x1p580;

/// The variable in which a recurrence runs: from the equator (z^2, or z by ones) or from the pole
/// (-sin^2, or z - 1 by ones), whichever keeps its digits.
enum Variable : std::int32_t { from_equator = 0, from_pole = 1 };

/// Ring pairs of one warp: pair first + 32 i + lane is the i-th of a lane.
struct Span {
  std::int32_t first;
  std::int32_t count;  ///< 0: the warp has nothing to do
  std::int32_t variable;
};

/// What one block does: the pairs of its warps in one row.
struct Item {
  std::int32_t row;   ///< of a SweepPlan
  std::int32_t slot;  ///< which of the partial sums of the row (adjoint)
  Span spans[block_warps];
};

/// One order in one kind of sweep. Offsets are counted in steps: they are multiplied by what a
/// step holds.
struct SweepRow {
  std::int64_t order_row;     ///< the row of the Legendre stage
  std::int64_t coefficients;  ///< its first step among the coefficients (by two)
  std::int64_t precise;       ///< its first step among those of low orders (by two); -1: none
  std::int64_t columns;       ///< its first step among the columns of its batch
  std::int64_t partials;      ///< its first step among the partial sums of its batch
  std::int64_t made;          ///< its first degree among the rows made for a batch
  std::int32_t m;
  std::int32_t first_degree;
  std::int32_t n_steps;
  std::int32_t n_slots;
  // First values: prefactor * sin(theta)^sin_power * seed_factor^factor_power of each function.
  double prefactor[2];
  std::int32_t sin_power;
  std::int32_t factor_power;
  double south;  ///< spin: the sign of the southern sums at the first degree
};

/// Where the a_lm and the modes of one order lie.
struct OrderRow {
  std::int64_t alm;   ///< degree m among the coefficients of a component
  std::int64_t head;  ///< the row it folds into, or itself
  std::int32_t m;
  std::int32_t n_degrees;
  std::int64_t own_segment;
  std::int64_t n_own_segments;
  // The rings on which it is added to its alias (FoldRule), and the segments of that row.
  std::int64_t fold_begin;
  std::int64_t fold_end;
  std::int64_t target_segment;
  std::int64_t n_target_segments;
  std::int64_t turns;
  std::int32_t m0;
  std::int32_t mirrored;
};

/// The ring pairs of a grid from the poles to the equator.
struct PairTables {
  const double* log2_sin_high;  ///< log2(sin theta) to 36 bits: exact times an order
  const double* log2_sin_low;   ///< the rest
  const double* z;
  const double* x_by_two[2];     ///< [variable]
  const double* x_by_one[2];     ///< [variable]
  const double* seed_factor[2];  ///< of each function of a spin field: 1 - z, 1 + z
  const std::int64_t* rings;     ///< [pair][north, south], -1: none
};

/// Where modes lie.
struct ModeTables {
  const OrderRow* orders;
  const RowSegment* segments;
  const double* phases;  ///< [turn - 1][folding ring][re, im]
  std::int64_t phase_ring_begin;
  std::int64_t n_phase_rings;
  std::int64_t n_components;
};

}  // namespace ringweave::gpu
