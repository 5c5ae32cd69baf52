// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/plan/sweep_shapes.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"
#include "legendre/cuda/sums/mode_access.hpp"
#include "legendre/cuda/sums/sweep_lanes.hpp"

namespace ringweave::detail::gpu {

/// Input common to sweeps in both directions. A launch is a plain struct of pointers and sizes; its
/// operator()(block, shared) is the work of one block.
template <class S>
struct SweepInput {
  const Item* items;
  const SweepRow* rows;
  RowRange wanted;
  PairTables pairs;
  ModeTables modes;
  SweptComponents<S> components;
  const Double2* coefficients;  ///< [step][S::step_size], all rows; unused for one-degree steps
  std::int32_t spin;

  RINGWEAVE_LAUNCH bool wants(const SweepRow& row) const {
    const std::int64_t head = modes.orders[row.order_row].head;
    return wanted.contains(head);
  }

  /// Copies the coefficients of steps [begin, begin + count) to shared memory; one-degree steps
  /// compute them.
  template <class Block>
  RINGWEAVE_LAUNCH void stage_coefficients(const Block& block, const SweepRow& row, int begin,
                                           int count, Double2* target) const {
    if constexpr (S::by_one) {
      block.each([&](int thread) {
        for (int k = thread; k < count; k += block_threads) {
          step_by_one(row.first_degree + begin + k, row.first_degree, row.m, spin,
                      target + k * S::step_size);
        }
      });
    } else {
      const Double2* source = coefficients + (row.coefficients + begin) * S::step_size;
      block.each([&](int thread) {
        for (int k = thread; k < count * S::step_size; k += block_threads) {
          block.copy_ahead(target + k, source + k);
        }
      });
    }
  }

  /// Returns the weight of a component on a pair.
  RINGWEAVE_LAUNCH double weight(int c, std::int64_t pair) const {
    return components.weight[c] == nullptr ? 1 : components.weight[c][pair];
  }
};

/// Loops over the tiles of a row: stage(begin, count, buffer) copies a tile to shared memory while
/// work(count, buffer) processes the previous one; when all threads have finished that,
/// after(begin, count) is called, which must not read the staged data.
template <class Block, class Stage, class Work, class After>
RINGWEAVE_LAUNCH void for_each_tile(const Block& block, const SweepRow& row, const Stage& stage,
                                    const Work& work, const After& after) {
  const auto size = [&](int begin) {
    return row.n_steps - begin < tile ? row.n_steps - begin : tile;
  };
  stage(0, size(0), 0);
  block.commit_copies();
  for (int begin = 0, buffer = 0; begin < row.n_steps; begin += tile, buffer ^= 1) {
    if (begin + tile < row.n_steps) stage(begin + tile, size(begin + tile), buffer ^ 1);
    block.commit_copies();
    block.wait_for_copies_but_last();
    block.sync();
    work(size(begin), buffer);
    block.sync();
    after(begin, size(begin));
  }
}

/// Per-thread recurrences of a block and the phases of its warps.
template <class S, int Pairs, class Block>
struct SweepThreads {
  using Functions = ThreadFunctions<S, Pairs>;
  typename Block::template PerThread<Functions> functions;
  typename Block::template PerThread<Phase> phase;
  typename Block::template PerThread<int> variable;
  typename Block::template PerThread<unsigned> within;  ///< values within range
  typename Block::template PerThread<bool> any;
  typename Block::template PerThread<bool> all;

  RINGWEAVE_LAUNCH static int warp_of(int thread) { return thread / warp_lanes; }
  RINGWEAVE_LAUNCH static int lane_of(int thread) { return thread % warp_lanes; }

  RINGWEAVE_LAUNCH void seed(const Block& block, const SweepInput<S>& input, const Item& item,
                             const SweepRow& row, int (*scale)[block_threads]) {
    block.each([&](int thread) {
      const Span& span = item.spans[warp_of(thread)];
      within[thread] = 0;
      variable[thread] = span.variable;
      if (span.count == 0) {
        phase[thread] = Phase::idle;
        return;
      }
      phase[thread] = Phase::below_range;
      functions[thread].seed(input.pairs, row, span, lane_of(thread), scale[0] + thread);
    });
  }

  /// Updates phases and scales; to be called before every chunk.
  RINGWEAVE_LAUNCH void update_scale(const Block& block, int (*scale)[block_threads]) {
    block.each([&](int thread) {
      const Phase now = phase[thread];
      if (now == Phase::below_range || now == Phase::partly_in_range) {
        within[thread] = functions[thread].lift(scale[0] + thread);
      }
      any[thread] = within[thread] != 0;
      all[thread] = within[thread] == Functions::all_values;
    });
    block.any_in_warp(any);
    block.all_in_warp(all);
    block.each([&](int thread) {
      if (phase[thread] == Phase::idle) return;
      phase[thread] = all[thread]   ? Phase::in_range
                      : any[thread] ? Phase::partly_in_range
                                    : Phase::below_range;
    });
  }

  /// Advances a thread by `Steps` steps; writes their values to kept [step][value] if any value of
  /// its warp is within range.
  template <int Steps>
  RINGWEAVE_LAUNCH void run(int thread, const Double2* coefficients, double* kept) {
    Functions& own = functions[thread];
    const int from = variable[thread];
    switch (phase[thread]) {
      case Phase::idle: break;
      case Phase::below_range: own.template run<Steps>(coefficients, from); break;
      case Phase::partly_in_range:
        own.template run_keeping<Steps, true>(coefficients, from, within[thread], kept);
        break;
      case Phase::in_range:
        own.template run_keeping<Steps, false>(coefficients, from, 0, kept);
        break;
    }
  }
};

}  // namespace ringweave::detail::gpu
