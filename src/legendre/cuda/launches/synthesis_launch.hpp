// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/launches/sweep_launch.hpp"
#include "legendre/cuda/sums/synthesis_sums.hpp"

namespace ringweave::detail::gpu {

/// Computes the modes of the rings of some pairs from the columns of an order. The loop runs over
/// degrees; a thread keeps the recurrences of `Pairs` ring pairs in registers, and `Sums` their
/// sums (synthesis_sums.hpp). Data common to all pairs is prefetched to shared memory one tile of
/// steps ahead.
template <class S, int Pairs, template <class, int, class> class Sums>
struct SynthesisLaunch {
  using Functions = ThreadFunctions<S, Pairs>;
  static constexpr int column_pairs = S::columns / 2;
  static constexpr int least_blocks = S::sums * Pairs <= 48 ? 3 : 2;
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
    threads.seed(block, input, item, row, shared.scale);
    Sums<S, Pairs, Block> sums(block);

    const auto load_coefficients = [&](int begin, int count, int buffer) {
      stage(block, row, begin, count, shared, buffer);
    };
    const auto add_tile = [&](int count, int buffer) {
      for (int k = 0; k < count; k += chunk) {
        threads.update_scale(block, shared.scale);
        sums.add_chunk(block, threads, shared.coefficients[buffer] + k * S::step_size,
                       shared.columns[buffer] + k * column_pairs);
      }
    };
    for_each_tile(block, row, load_coefficients, add_tile, [](int, int) {});

    sums.finish(block, threads);
    block.each([&](int thread) {
      const Span& span = item.spans[thread / warp_lanes];
      const int lane = thread % warp_lanes;
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        if (!Functions::within_span(span, lane, i)) continue;
        write(row, Functions::pair_of(span, lane, i), sums.of(thread) + i);
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

  /// Writes the modes of both rings of a pair.
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

}  // namespace ringweave::detail::gpu
