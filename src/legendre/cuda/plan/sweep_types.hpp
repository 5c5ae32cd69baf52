// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::gpu {

/// Steps between two checks of the range of values. Every order is padded with zeros to whole
/// chunks.
inline constexpr int chunk = 8;
/// Steps in shared memory at a time.
inline constexpr int tile = 32;

/// Values are p * 2^(800 scale), scale <= 0; only those with scale 0 contribute. A value grows by
/// less than 2^160 per chunk, so one at scale -1 that begins it with p below 2^580 stays below
/// 2^-60.
inline constexpr double scale_bits = 800;
inline constexpr double tiny_bits = 60;
inline constexpr double two_to_minus_800 = 0x1p-800;
inline constexpr double near_the_range = 0x1p580;

/// Variable of a recurrence: from the equator (z^2; z for one-degree steps) or from the pole
/// (-sin^2; z - 1 for one-degree steps), whichever keeps its digits.
enum Variable : std::int32_t { from_equator = 0, from_pole = 1 };

/// Ring pairs of one warp: pair first + 32 i + lane is the i-th of a lane.
struct Span {
  std::int32_t first;
  std::int32_t count;  ///< 0: the warp is idle
  std::int32_t variable;
};

/// Work of one block: the pairs of its warps in one row.
struct Item {
  std::int32_t row;   ///< in a SweepPlan
  std::int32_t slot;  ///< index among the partial sums of the row (adjoint)
  Span spans[block_warps];
};

/// One order in one kind of sweep. Offsets are counted in steps, to be multiplied by the size of a
/// step.
struct SweepRow {
  std::int64_t order_row;     ///< row of the Legendre stage
  std::int64_t coefficients;  ///< first step among the coefficients (two-degree steps)
  std::int64_t precise;       ///< first step among those of low orders (two-degree steps); -1: none
  std::int64_t columns;       ///< first step among the columns of its batch
  std::int64_t partials;      ///< first step among the partial sums of its batch
  std::int64_t made;          ///< first degree among the intermediate rows of a batch
  std::int32_t m;
  std::int32_t first_degree;
  std::int32_t n_steps;
  std::int32_t n_slots;
  // First values of each function: prefactor * sin(theta)^sin_power * seed_factor^factor_power.
  double prefactor[2];
  std::int32_t sin_power;
  std::int32_t factor_power;
  double south;  ///< spin: the sign of the southern sums at the first degree
};

/// Positions of the a_lm and modes of one order.
struct OrderRow {
  std::int64_t alm;   ///< degree m among the coefficients of a component
  std::int64_t head;  ///< the row it folds into, or itself
  std::int32_t m;
  std::int32_t n_degrees;
  std::int64_t own_segment;
  std::int64_t n_own_segments;
  // Rings on which the order is added to its alias (FoldRule), and the segments of the alias's row.
  std::int64_t fold_begin;
  std::int64_t fold_end;
  std::int64_t target_segment;
  std::int64_t n_target_segments;
  std::int64_t turns;
  std::int32_t m0;
  std::int32_t mirrored;
};

/// Ring pairs of a grid from the poles to the equator.
struct PairTables {
  const double* log2_sin_high;  ///< log2(sin theta) to 36 bits: its product with an order is exact
  const double* log2_sin_low;   ///< the remainder
  const double* z;
  const double* x_by_two[2];     ///< [variable]
  const double* x_by_one[2];     ///< [variable]
  const double* seed_factor[2];  ///< for each function of a spin field: 1 - z, 1 + z
  const std::int64_t* rings;     ///< [pair][north, south], -1: none
};

/// Layout of modes.
struct ModeTables {
  const OrderRow* orders;
  const RowSegment* segments;
  const double* phases;  ///< [turn - 1][folding ring][re, im]
  std::int64_t phase_ring_begin;
  std::int64_t n_phase_rings;
  std::int64_t n_components;
};

}  // namespace ringweave::detail::gpu
