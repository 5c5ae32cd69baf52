// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/lane_sums.hpp"
#include "base/host_device.hpp"
#include "legendre/cuda/sweep_launch.hpp"

namespace ringweave::gpu {

/// The exact transpose: sums over the pairs of a block for every column, from the modes of their
/// rings. A thread keeps the recurrences and inputs of its pairs in registers and sums over them;
/// sums of `Steps` steps are added over the lanes of a warp together (LaneSums), those of a tile
/// over the warps in shared memory, those of a row over its blocks by RestoreLaunch: always in the
/// same order.
template <class S, int Pairs, int Steps>
struct AdjointLaunch {
  using Functions = ThreadFunctions<S, Pairs>;
  static constexpr int n_values = Steps * S::columns;
  using Lanes = LaneSums<n_values>;
  static constexpr int least_blocks = 2;
  static_assert(Steps % 2 == 0 && chunk % Steps == 0, "parities change within one call");
  struct Inputs {
    Array<double, S::sums * Pairs> input;  ///< [sum][pair], 0 below range
  };
  struct Shared {
    Array<Double2, tile * S::step_size> coefficients[2];
    Array<double, tile * S::columns> totals[block_warps];
    Array<Array<int, block_threads>, Functions::values> scale;
  };

  SweepInput<S> input;
  const double* modes;
  double* partials;  ///< [step and slot of the batch][column]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Item& item = input.items[block.index()];
    const SweepRow& row = input.rows[item.row];
    if (!input.wants(row)) return;
    SweepThreads<S, Pairs, Block> threads;
    typename Block::template PerThread<Inputs> inputs;
    typename Block::template PerThread<unsigned> loaded;  ///< values whose inputs are there
    typename Block::template PerThread<Array<double, n_values>> values;
    threads.seed(block, input, item, row, shared.scale);
    block.each([&](int thread) {
      loaded[thread] = 0;
      RINGWEAVE_UNROLL
      for (int i = 0; i < S::sums * Pairs; ++i) inputs[thread].input[i] = 0;
    });

    double* target = partials + (row.partials + std::int64_t{item.slot} * row.n_steps) * S::columns;
    const auto bring = [&](int begin, int count, int buffer) {
      input.stage_coefficients(block, row, begin, count, shared.coefficients[buffer]);
    };
    const auto sum_tile = [&](int count, int buffer) {
      for (int k = 0; k < count; k += chunk) {
        threads.look_at_range(block, shared.scale);
        block.each([&](int thread) {
          if (threads.within[thread] == loaded[thread]) return;
          loaded[thread] = threads.within[thread];
          load(row, item.spans[thread / warp_lanes], thread % warp_lanes, loaded[thread],
               inputs[thread].input);
        });
        for (int t = 0; t < chunk; t += Steps) {
          const Double2* coefficients = shared.coefficients[buffer] + (k + t) * S::step_size;
          block.each([&](int thread) {
            const int variable = threads.variable[thread];
            Functions& functions = threads.functions[thread];
            if (threads.phase[thread] == Phase::idle) return;
            if (!threads.any[thread]) return run_steps(functions, coefficients, variable);
            sum_steps(functions, coefficients, variable, inputs[thread].input, values[thread]);
          });
          block.template sum_lanes<n_values>(values, threads.any);
          block.each([&](int thread) {
            const int lane = thread % warp_lanes;
            if (lane % Lanes::copies != 0) return;
            const int first = Lanes::first_sum(lane);
            double* totals = shared.totals[thread / warp_lanes] + (k + t) * S::columns + first;
            RINGWEAVE_UNROLL
            for (int i = 0; i < Lanes::left; ++i) {
              totals[i] = threads.any[thread] ? values[thread][i] : 0;
            }
          });
        }
      }
    };
    const auto add_warps = [&](int begin, int count) {
      block.each([&](int thread) {
        for (int i = thread; i < count * S::columns; i += block_threads) {
          double total = shared.totals[0][i];
          for (int warp = 1; warp < block_warps; ++warp) total += shared.totals[warp][i];
          target[std::int64_t{begin} * S::columns + i] = total;
        }
      });
    };
    for_each_tile(block, row, bring, sum_tile, add_warps);
  }

 private:
  RINGWEAVE_LAUNCH static void run_steps(Functions& f, const Double2* coefficients, int variable) {
    RINGWEAVE_UNROLL
    for (int t = 0; t < Steps; t += 2, coefficients += 2 * S::step_size) {
      f.advance(S::load(coefficients, variable), f.previous, f.current);
      f.advance(S::load(coefficients + S::step_size, variable), f.current, f.previous);
    }
  }

  RINGWEAVE_LAUNCH static void sum_steps(Functions& f, const Double2* coefficients, int variable,
                                         const double* in, double* value) {
    RINGWEAVE_UNROLL
    for (int i = 0; i < n_values; ++i) value[i] = 0;
    RINGWEAVE_UNROLL
    for (int t = 0; t < Steps; t += 2, coefficients += 2 * S::step_size) {
      sum<false>(f.current, in, value + t * S::columns);
      f.advance(S::load(coefficients, variable), f.previous, f.current);
      sum<true>(f.previous, in, value + (t + 1) * S::columns);
      f.advance(S::load(coefficients + S::step_size, variable), f.current, f.previous);
    }
  }

  template <bool Odd>
  RINGWEAVE_LAUNCH static void sum(const double* p, const double* in, double* value) {
    RINGWEAVE_UNROLL
    for (int o = 0; o < S::sums; ++o) {
      if (!S::counts(o, Odd)) continue;
      const double sign = Odd && S::alternates(o) ? -1 : 1;
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        value[o % S::columns] += sign * p[S::function(o) * Pairs + i] * in[o * Pairs + i];
      }
    }
  }

  /// The inputs of the values within range, from both rings of each pair.
  RINGWEAVE_LAUNCH void load(const SweepRow& row, const Span& span, int lane, unsigned within,
                             double* in) const {
    const OrderRow& order = input.modes.orders[row.order_row];
    RINGWEAVE_UNROLL
    for (int i = 0; i < Pairs; ++i) {
      RINGWEAVE_UNROLL
      for (int o = 0; o < S::sums; ++o) in[o * Pairs + i] = 0;
      if (!Functions::within_span(span, lane, i)) continue;
      const std::int64_t pair = Functions::pair_of(span, lane, i);
      for (int half = 0; half < 2; ++half) read(row, order, pair, half, in + i);
      RINGWEAVE_UNROLL
      for (int o = 0; o < S::sums; ++o) {
        if ((within >> (S::function(o) * Pairs + i) & 1U) == 0) in[o * Pairs + i] = 0;
      }
    }
  }

  RINGWEAVE_LAUNCH void read(const SweepRow& row, const OrderRow& order, std::int64_t pair,
                             int half, double* in) const {
    const std::int64_t ring = input.pairs.rings[2 * pair + half];
    const ModePlace place = place_of(input.modes, order, ring);
    if (place.position < 0) return;
    if constexpr (S::functions > 1) {
      const BothModes both{
          get_mode(input.modes, order, ring, place, input.components.component[0], modes),
          get_mode(input.modes, order, ring, place, input.components.component[1], modes)};
      // Southern sums begin at sum 4; a choice of pointers at run time would move them to memory.
      if (half == 0) {
        add_spin_modes_to(in, Pairs, input.components.parity, 1, both);
      } else {
        add_spin_modes_to(in + 4 * Pairs, Pairs, input.components.parity, row.south, both);
      }
    } else {
      const double z = input.pairs.z[pair];
      RINGWEAVE_UNROLL
      for (int c = 0; c < S::components; ++c) {
        const double weight = input.weight(c, pair);
        const Double2 mode =
            get_mode(input.modes, order, ring, place, input.components.component[c], modes);
        add_mode_to<S>(in, Pairs, c, z, half != 0, {weight * mode.x, weight * mode.y});
      }
    }
  }
};

}  // namespace ringweave::gpu
