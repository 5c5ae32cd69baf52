// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/sweep_launch.hpp"

namespace ringweave::gpu {

/// Modes of the rings of some pairs, from the columns of an order. Degrees run in the loop; a
/// thread keeps the recurrences and sums of `Pairs` ring pairs in registers, and what all pairs
/// share comes from shared memory, one tile of steps ahead.
template <class S, int Pairs>
struct SynthesisLaunch {
  using Functions = ThreadFunctions<S, Pairs>;
  static constexpr int column_pairs = S::columns / 2;
  static constexpr int least_blocks = S::sums * Pairs <= 48 ? 3 : 2;
  struct Sums {
    Array<double, S::sums * Pairs> sum;  ///< [sum][pair]
  };
  struct Shared {
    Array<Double2, tile * S::step_size> coefficients[2];
    Array<Double2, tile * column_pairs> columns[2];
    Array<Array<int, block_threads>, Functions::values> scale;
  };

  SweepInput<S> input;
  const Double2* columns;  ///< [step of the batch][column_pairs]
  double* modes;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Item& item = input.items[block.index()];
    const SweepRow& row = input.rows[item.row];
    if (!input.wants(row)) return;
    SweepThreads<S, Pairs, Block> threads;
    typename Block::template PerThread<Sums> sums;
    threads.seed(block, input, item, row, shared.scale);
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < S::sums * Pairs; ++i) sums[thread].sum[i] = 0;
    });

    const auto bring = [&](int begin, int count, int buffer) {
      stage(block, row, begin, count, shared, buffer);
    };
    const auto add_tile = [&](int count, int buffer) {
      for (int k = 0; k < count; k += chunk) {
        threads.look_at_range(block, shared.scale);
        const Double2* coefficients = shared.coefficients[buffer] + k * S::step_size;
        const Double2* column = shared.columns[buffer] + k * column_pairs;
        block.each([&](int thread) {
          const int variable = threads.variable[thread];
          Functions& functions = threads.functions[thread];
          switch (threads.phase[thread]) {
            case Phase::idle: break;
            case Phase::below_range: run_chunk(functions, coefficients, variable); break;
            case Phase::partly_in_range:
              add_chunk<true>(functions, coefficients, column, variable, threads.within[thread],
                              sums[thread].sum);
              break;
            case Phase::in_range:
              add_chunk<false>(functions, coefficients, column, variable, 0, sums[thread].sum);
              break;
          }
        });
      }
    };
    for_each_tile(block, row, bring, add_tile, [](int, int) {});

    block.each([&](int thread) {
      const Span& span = item.spans[thread / warp_lanes];
      const int lane = thread % warp_lanes;
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        if (!Functions::within_span(span, lane, i)) continue;
        write(row, Functions::pair_of(span, lane, i), sums[thread].sum + i);
      }
    });
  }

 private:
  template <class Block>
  RINGWEAVE_LAUNCH void stage(const Block& block, const SweepRow& row, int begin, int count,
                              Shared& shared, int buffer) const {
    input.stage_coefficients(block, row, begin, count, shared.coefficients[buffer]);
    const Double2* source = columns + (row.columns + begin) * column_pairs;
    Double2* target = shared.columns[buffer];
    block.each([&](int thread) {
      for (int k = thread; k < count * column_pairs; k += block_threads) {
        block.copy_ahead(target + k, source + k);
      }
    });
  }

  RINGWEAVE_LAUNCH static void run_chunk(Functions& f, const Double2* coefficients, int variable) {
    RINGWEAVE_UNROLL
    for (int t = 0; t < chunk; t += 2, coefficients += 2 * S::step_size) {
      f.advance(S::load(coefficients, variable), f.previous, f.current);
      f.advance(S::load(coefficients + S::step_size, variable), f.current, f.previous);
    }
  }

  template <bool Masked>
  RINGWEAVE_LAUNCH static void add_chunk(Functions& f, const Double2* coefficients,
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
    RINGWEAVE_UNROLL
    for (int i = 0; i < Functions::values; ++i) {
      value[i] = !Masked || (within >> i & 1U) != 0 ? p[i] : 0;
    }
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

  /// Both rings of a pair.
  RINGWEAVE_LAUNCH void write(const SweepRow& row, std::int64_t pair, const double* sum) const {
    const OrderRow& order = input.modes.orders[row.order_row];
    if constexpr (S::functions > 1) {
      const double parity = input.components.parity;
      write_spin(order, pair, 0, spin_modes_from(sum, Pairs, parity, 1));
      write_spin(order, pair, 1, spin_modes_from(sum + 4 * Pairs, Pairs, parity, row.south));
    } else {
      for (int half = 0; half < 2; ++half) write_scalars(order, pair, half, sum);
    }
  }

  RINGWEAVE_LAUNCH void write_spin(const OrderRow& order, std::int64_t pair, int half,
                                   const BothModes& both) const {
    const std::int64_t ring = input.pairs.rings[2 * pair + half];
    const ModePlace place = place_of(input.modes, order, ring);
    if (place.position < 0) return;
    put_mode(input.modes, order, ring, place, input.components.component[0], both.q, modes);
    put_mode(input.modes, order, ring, place, input.components.component[1], both.u, modes);
  }

  RINGWEAVE_LAUNCH void write_scalars(const OrderRow& order, std::int64_t pair, int half,
                                      const double* sum) const {
    const std::int64_t ring = input.pairs.rings[2 * pair + half];
    const ModePlace place = place_of(input.modes, order, ring);
    if (place.position < 0) return;
    const double z = input.pairs.z[pair];
    RINGWEAVE_UNROLL
    for (int c = 0; c < S::components; ++c) {
      const double weight = input.weight(c, pair);
      if (weight == 0) continue;
      const Double2 mode = mode_from<S>(sum, Pairs, c, z, half != 0);
      put_mode(input.modes, order, ring, place, input.components.component[c],
               {weight * mode.x, weight * mode.y}, modes);
    }
  }
};

}  // namespace ringweave::gpu
