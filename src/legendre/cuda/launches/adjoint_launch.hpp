// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/launches/sweep_launch.hpp"
#include "legendre/cuda/sums/adjoint_sums.hpp"

namespace ringweave::detail::gpu {

/// Computes the exact transpose: for every column the sum over the pairs of a block, from the modes
/// of their rings. A thread keeps the recurrences and inputs of its pairs in registers. `Sums` adds
/// over the pairs of a warp (adjoint_sums.hpp); the sums of a tile are added over the warps in
/// shared memory, those of a row over its blocks by RestoreScalars and RestoreSpin, always in the
/// same order.
template <class S, int Pairs, int Steps, int Blocks, template <class, int, int, class> class Sums>
struct AdjointLaunch {
  using Functions = ThreadFunctions<S, Pairs>;
  static constexpr int least_blocks = Blocks;
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
    threads.seed(block, input, item, row, shared.scale);
    Sums<S, Pairs, Steps, Block> sums(block);

    double* target = partials + (row.partials + std::int64_t{item.slot} * row.n_steps) * S::columns;
    const auto load_coefficients = [&](int begin, int count, int buffer) {
      input.stage_coefficients(block, row, begin, count, shared.coefficients[buffer]);
    };
    const auto load_inputs = [&](int thread, double* in) {
      load(row, item.spans[thread / warp_lanes], thread % warp_lanes, in);
    };
    const auto sum_tile = [&](int count, int buffer) {
      for (int k = 0; k < count; k += chunk) {
        threads.update_scale(block, shared.scale);
        sums.sum_chunk(block, threads, load_inputs, shared.coefficients[buffer] + k * S::step_size,
                       shared.totals, k * S::columns);
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
    for_each_tile(block, row, load_coefficients, sum_tile, add_warps);
  }

 private:
  /// Loads the inputs from both rings of each pair.
  RINGWEAVE_LAUNCH void load(const SweepRow& row, const Span& span, int lane, double* in) const {
    const OrderRow& order = input.modes.orders[row.order_row];
    RINGWEAVE_UNROLL
    for (int i = 0; i < Pairs; ++i) {
      RINGWEAVE_UNROLL
      for (int o = 0; o < S::sums; ++o) in[o * Pairs + i] = 0;
      if (!Functions::within_span(span, lane, i)) continue;
      const std::int64_t pair = Functions::pair_of(span, lane, i);
      for (int half = 0; half < 2; ++half) read(row, order, pair, half, in + i);
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
      // Southern sums begin at sum 4; choosing the pointer at run time would move the array from
      // registers to memory.
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

}  // namespace ringweave::detail::gpu
