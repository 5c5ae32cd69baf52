// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/launches/sweep_launch.hpp"

namespace ringweave::detail::gpu {

// Synthesis sums, [sum][pair] per thread, to which chunks of steps are added. `columns`
// [step][column pair] and `coefficients` [step] are in shared memory.

/// Each thread sums for its own pairs.
template <class S, int Pairs, class Block>
class SynthesisByThreads {
 public:
  using Functions = ThreadFunctions<S, Pairs>;
  using Threads = SweepThreads<S, Pairs, Block>;
  static constexpr int column_pairs = S::columns / 2;

  RINGWEAVE_LAUNCH explicit SynthesisByThreads(const Block& block) {
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < S::sums * Pairs; ++i) sums_[thread][i] = 0;
    });
  }
  RINGWEAVE_LAUNCH void add_chunk(const Block& block, Threads& threads, const Double2* coefficients,
                                  const Double2* columns) {
    block.each([&](int thread) {
      const int variable = threads.variable[thread];
      Functions& functions = threads.functions[thread];
      switch (threads.phase[thread]) {
        case Phase::idle: break;
        case Phase::below_range: functions.template run<chunk>(coefficients, variable); break;
        case Phase::partly_in_range:
          add_steps<true>(functions, coefficients, columns, variable, threads.within[thread],
                          sums_[thread]);
          break;
        case Phase::in_range:
          add_steps<false>(functions, coefficients, columns, variable, 0, sums_[thread]);
          break;
      }
    });
  }
  RINGWEAVE_LAUNCH void finish(const Block&, Threads&) {}
  RINGWEAVE_LAUNCH const double* of(int thread) { return sums_[thread]; }

 private:
  template <bool Masked>
  RINGWEAVE_LAUNCH static void add_steps(Functions& f, const Double2* coefficients,
                                         const Double2* column, int variable, unsigned within,
                                         double* sum) {
    RINGWEAVE_UNROLL
    for (int t = 0; t < chunk; t += 2) {
      add<Masked, false>(f.current, column, within, sum);
      f.advance(S::load(coefficients, variable), f.previous, f.current);
      add<Masked, true>(f.previous, column + column_pairs, within, sum);
      f.advance(S::load(coefficients + S::step_size, variable), f.current, f.previous);
      coefficients += 2 * S::step_size;
      column += 2 * column_pairs;
    }
  }

  template <bool Masked, bool Odd>
  RINGWEAVE_LAUNCH static void add(const double* p, const Double2* column, unsigned within,
                                   double* sum) {
    Array<double, Functions::values> value;
    Functions::template keep<Masked>(p, within, value);
    RINGWEAVE_UNROLL
    for (int o = 0; o < S::sums; o += 2) {
      if (!S::counts(o, Odd)) continue;
      const Double2 factor = column[o % S::columns / 2];
      const double sign = Odd && S::alternates(o) ? -1 : 1;
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        const double v = sign * value[S::function(o) * Pairs + i];
        sum[o * Pairs + i] += v * factor.x;
        sum[(o + 1) * Pairs + i] += v * factor.y;
      }
    }
  }

  typename Block::template PerThread<Array<double, S::sums * Pairs>> sums_;
};

/// Sums two maps at a time by matrix products: [pair][step] times [step][column]. Values of four
/// steps are transposed within four lanes, so that each lane holds the steps of one pair; the sums
/// are transposed back at the end. Scalar maps with two-degree steps only.
template <class S, int Pairs, class Block>
class SynthesisByMatrices {
 public:
  using Threads = SweepThreads<S, Pairs, Block>;
  static constexpr int depth = 4;                  ///< steps of one product
  static constexpr int products = S::columns / 8;  ///< per step block
  static_assert(!S::by_one && S::columns % 8 == 0);

  RINGWEAVE_LAUNCH explicit SynthesisByMatrices(const Block& block) {
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < S::sums * Pairs; ++i) sums_[thread][i] = 0;
    });
  }
  RINGWEAVE_LAUNCH void add_chunk(const Block& block, Threads& threads, const Double2* coefficients,
                                  const Double2* columns) {
    RINGWEAVE_UNROLL
    for (int t = 0; t < chunk; t += depth) {
      block.each([&](int thread) {
        threads.template run<depth>(thread, coefficients + t * S::step_size, values_[thread]);
        const int lane = thread % warp_lanes;
        const auto* column = reinterpret_cast<const double*>(columns) +
                             (t + lane % depth) * S::columns + lane / depth;
        RINGWEAVE_UNROLL
        for (int p = 0; p < products; ++p) columns_[thread][p] = column[8 * p];
      });
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        block.template transpose_lanes<depth, 1>(values_, i, Pairs, threads.any);
        RINGWEAVE_UNROLL
        for (int lane = 0; lane < depth; ++lane) {
          RINGWEAVE_UNROLL
          for (int p = 0; p < products; ++p) {
            const int sum = (8 * p + 2 * lane) * Pairs + i;
            block.multiply_add_8x8x4(values_, lane * Pairs + i, columns_, p, sums_, sum,
                                     sum + Pairs, threads.any);
          }
        }
      }
    }
  }
  /// A lane holds two columns for the pairs of four lanes; exchange them so that it holds all
  /// columns of its own pairs.
  RINGWEAVE_LAUNCH void finish(const Block& block, Threads& threads) {
    RINGWEAVE_UNROLL
    for (int p = 0; p < products; ++p) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < 2 * Pairs; ++i) {
        block.template transpose_lanes<depth, 1>(sums_, 8 * p * Pairs + i, 2 * Pairs, threads.any);
      }
    }
  }
  RINGWEAVE_LAUNCH const double* of(int thread) { return sums_[thread]; }

 private:
  typename Block::template PerThread<Array<double, S::sums * Pairs>> sums_;
  typename Block::template PerThread<Array<double, depth * Pairs>> values_;  ///< [step][pair]
  typename Block::template PerThread<Array<double, products>> columns_;
};

}  // namespace ringweave::detail::gpu
