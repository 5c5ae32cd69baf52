// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/lane_sums.hpp"
#include "base/host_device.hpp"
#include "legendre/cuda/launches/sweep_launch.hpp"

namespace ringweave::detail::gpu {

// Adjoint sums over the pairs of a warp, chunk by chunk. load(thread, in) reads the inputs
// [sum][pair] of a thread's pairs, once, when the first value of its warp comes within range: lanes
// that load at different chunks wait for each other every time. `coefficients` [step] are in shared
// memory; the sums are written to totals[warp] + first [step][column].

/// Each thread sums over its pairs, then all lanes are reduced for `Steps` steps together
/// (LaneSums).
template <class S, int Pairs, int Steps, class Block>
class AdjointByThreads {
 public:
  using Functions = ThreadFunctions<S, Pairs>;
  using Threads = SweepThreads<S, Pairs, Block>;
  static constexpr int n_values = Steps * S::columns;
  using Lanes = LaneSums<n_values>;
  static_assert(Steps % 2 == 0 && chunk % Steps == 0, "parities change within one call");

  RINGWEAVE_LAUNCH explicit AdjointByThreads(const Block& block) {
    block.each([&](int thread) {
      loaded_[thread] = false;
      RINGWEAVE_UNROLL
      for (int i = 0; i < S::sums * Pairs; ++i) inputs_[thread][i] = 0;
    });
  }
  template <class Load, class Totals>
  RINGWEAVE_LAUNCH void sum_chunk(const Block& block, Threads& threads, const Load& load,
                                  const Double2* coefficients, Totals& totals, int first) {
    block.each([&](int thread) {
      if (!threads.any[thread] || loaded_[thread]) return;
      loaded_[thread] = true;
      load(thread, inputs_[thread]);
    });
    for (int t = 0; t < chunk; t += Steps) {
      block.each([&](int thread) {
        const int variable = threads.variable[thread];
        Functions& functions = threads.functions[thread];
        const Double2* own = coefficients + t * S::step_size;
        switch (threads.phase[thread]) {
          case Phase::idle: break;
          case Phase::below_range: functions.template run<Steps>(own, variable); break;
          case Phase::partly_in_range:
            sum_steps<true>(functions, own, variable, threads.within[thread], inputs_[thread],
                            values_[thread]);
            break;
          case Phase::in_range:
            sum_steps<false>(functions, own, variable, 0, inputs_[thread], values_[thread]);
            break;
        }
      });
      block.template sum_lanes<n_values>(values_, threads.any);
      block.each([&](int thread) {
        const int lane = thread % warp_lanes;
        if (lane % Lanes::copies != 0) return;
        const int sum = Lanes::first_sum(lane);
        double* target = totals[thread / warp_lanes] + first + t * S::columns + sum;
        RINGWEAVE_UNROLL
        for (int i = 0; i < Lanes::left; ++i) {
          target[i] = threads.any[thread] ? values_[thread][i] : 0;
        }
      });
    }
  }

 private:
  template <bool Masked>
  RINGWEAVE_LAUNCH static void sum_steps(Functions& f, const Double2* coefficients, int variable,
                                         unsigned within, const double* in, double* value) {
    RINGWEAVE_UNROLL
    for (int i = 0; i < n_values; ++i) value[i] = 0;
    RINGWEAVE_UNROLL
    for (int t = 0; t < Steps; t += 2, coefficients += 2 * S::step_size) {
      sum<Masked, false>(f.current, within, in, value + t * S::columns);
      f.advance(S::load(coefficients, variable), f.previous, f.current);
      sum<Masked, true>(f.previous, within, in, value + (t + 1) * S::columns);
      f.advance(S::load(coefficients + S::step_size, variable), f.current, f.previous);
    }
  }

  template <bool Masked, bool Odd>
  RINGWEAVE_LAUNCH static void sum(const double* p, unsigned within, const double* in,
                                   double* value) {
    Array<double, Functions::values> kept;
    Functions::template keep<Masked>(p, within, kept);
    RINGWEAVE_UNROLL
    for (int o = 0; o < S::sums; ++o) {
      if (!S::counts(o, Odd)) continue;
      const double sign = Odd && S::alternates(o) ? -1 : 1;
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        value[o % S::columns] += sign * kept[S::function(o) * Pairs + i] * in[o * Pairs + i];
      }
    }
  }

  typename Block::template PerThread<Array<double, S::sums * Pairs>> inputs_;
  typename Block::template PerThread<bool> loaded_;
  typename Block::template PerThread<Array<double, n_values>> values_;
};

/// Sums two maps at a time by matrix products: [step][pair] times [pair][column], summed over all
/// pairs of a warp. Values of eight steps are transposed within eight lanes, so that each lane
/// holds the steps of one pair; the inputs are transposed once. Scalar maps with two-degree steps
/// only.
template <class S, int Pairs, int Steps, class Block>
class AdjointByMatrices {
 public:
  using Threads = SweepThreads<S, Pairs, Block>;
  static constexpr int side = 8;                      ///< steps and columns of one product
  static constexpr int depth = 4;                     ///< pairs of one product
  static constexpr int products = S::columns / side;  ///< per step block
  /// Independent accumulators, to hide latency.
  static constexpr int chains = products > 1 ? 1 : 2;
  static_assert(!S::by_one && S::columns % side == 0 && Steps == side && chunk == side);

  RINGWEAVE_LAUNCH explicit AdjointByMatrices(const Block& block) {
    block.each([&](int thread) { loaded_[thread] = false; });
  }
  template <class Load, class Totals>
  RINGWEAVE_LAUNCH void sum_chunk(const Block& block, Threads& threads, const Load& load,
                                  const Double2* coefficients, Totals& totals, int first) {
    load_inputs(block, threads, load);
    block.each([&](int thread) {
      threads.template run<side>(thread, coefficients, values_[thread]);
      RINGWEAVE_UNROLL
      for (int i = 0; i < 2 * chains * products; ++i) sums_[thread][i] = 0;
    });
    RINGWEAVE_UNROLL
    for (int i = 0; i < Pairs; ++i) {
      block.template transpose_lanes<side, depth>(values_, i, Pairs, threads.any);
      RINGWEAVE_UNROLL
      for (int group = 0; group < side; ++group) {
        RINGWEAVE_UNROLL
        for (int p = 0; p < products; ++p) {
          const int sum = 2 * (p * chains + group % chains);
          block.multiply_add_8x8x4(values_, group * Pairs + i, inputs_,
                                   (side * p + group) * Pairs + i, sums_, sum, sum + 1,
                                   threads.any);
        }
      }
    }
    block.each([&](int thread) {
      const int lane = thread % warp_lanes;
      double* target =
          totals[thread / warp_lanes] + first + lane / depth * S::columns + 2 * (lane % depth);
      RINGWEAVE_UNROLL
      for (int p = 0; p < products; ++p) {
        const double* sum = sums_[thread] + 2 * p * chains;
        RINGWEAVE_UNROLL
        for (int i = 0; i < 2; ++i) {
          target[side * p + i] = chains == 1 ? sum[i] : sum[i] + sum[2 * (chains - 1) + i];
        }
      }
    });
  }

 private:
  /// Loads the inputs once and transposes them.
  template <class Load>
  RINGWEAVE_LAUNCH void load_inputs(const Block& block, Threads& threads, const Load& load) {
    block.each([&](int thread) {
      wanted_[thread] = threads.any[thread] && !loaded_[thread];
      if (!wanted_[thread]) return;
      loaded_[thread] = true;
      load(thread, inputs_[thread]);
    });
    RINGWEAVE_UNROLL
    for (int p = 0; p < products; ++p) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        block.template transpose_lanes<side, depth>(inputs_, side * p * Pairs + i, Pairs, wanted_);
      }
    }
  }

  typename Block::template PerThread<Array<double, S::sums * Pairs>> inputs_;  ///< [column][pair]
  typename Block::template PerThread<bool> loaded_;
  typename Block::template PerThread<bool> wanted_;
  typename Block::template PerThread<Array<double, side * Pairs>> values_;  ///< [step][pair]
  typename Block::template PerThread<Array<double, 2 * chains * products>> sums_;
};

}  // namespace ringweave::detail::gpu
