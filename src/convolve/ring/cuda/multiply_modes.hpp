// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "convolve/ring/cuda/convolved_fields.hpp"
#include "convolve/ring/cuda/ring_sum_plan.hpp"
#include "sphere/kernel/kernel_lookup.hpp"

namespace ringweave::detail::gpu {

/// Tables of a RingSumPlan that launches read.
struct RingSumTables {
  const SumRing* rings = nullptr;
  const OutputRing* outputs = nullptr;
  const PartnerTile* tiles = nullptr;
  const SampleRule* rules = nullptr;
  const double* sines = nullptr;
  const Double2* powers = nullptr;
  const OrderSegments* orders = nullptr;
  const RowSegment* segments = nullptr;
  const OrderSegments* own_orders = nullptr;
  const RowSegment* own_segments = nullptr;
  std::int64_t n_rings = 0;
};

/// Computes out_m(ring) = sum over partners of K_m(ring, partner) in_m(partner), for some Fields
/// with one kernel. A block has one ring, with its mirror image, and some orders. It computes
/// kernel samples of a tile of partners in shared memory; each thread sums them times cosines, and
/// sines, for its orders, a rotation from sample to sample, and multiplies the modes at once.
template <class Fields>
struct MultiplyModes {
  using Value = typename Fields::Value;
  using Pair = typename Fields::Pair;
  static constexpr int maps = Fields::maps;
  static constexpr int least_blocks = 3;
  static constexpr int partners = PartnerTile::most_partners;
  static constexpr int samples_together = 32;
  static constexpr int orders_of_thread = Fields::orders;
  static constexpr int orders_of_block = orders_of_thread * block_threads;

  struct Shared {
    Array<Pair, partners> pairs;
    Array<Array<Value, partners>, samples_together> samples;
  };
  /// Kernel modes of a thread.
  struct KernelModes {
    Array<Array<Value, partners>, orders_of_thread> of;
  };
  /// Sums of a thread for a ring and its mirror image.
  struct Sums {
    Array<Array<Array<Double2, maps>, 2>, orders_of_thread> of;
  };

  RingSumTables tables;
  KernelLookup kernel;
  Fields fields;
  bool halves_nyquist;
  std::int64_t n_order_blocks;
  std::int64_t n_components;  ///< of the modes
  std::int64_t first_map;
  const Double2* in;  ///< [position][component] of own and halo rings
  Double2* out;       ///< of own rings

  static std::int64_t order_blocks(std::int64_t highest_order) {
    return highest_order / orders_of_block + 1;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), n_order_blocks);
    const OutputRing output = tables.outputs[at.whole];
    const std::int64_t first_order = at.rest * orders_of_block;
    if (first_order > output.limit) return;
    typename Block::template PerThread<Sums> sums;
    block.each([&](int thread) { clear(sums[thread]); });
    for (std::int64_t t = 0; t < output.n_tiles; ++t) {
      const PartnerTile tile = tables.tiles[output.first_tile + t];
      if (tile.limit < first_order) continue;
      typename Block::template PerThread<KernelModes> modes;
      sum_samples(block, output, tile, first_order, shared, modes);
      block.each([&](int thread) {
        RINGWEAVE_UNROLL
        for (int i = 0; i < orders_of_thread; ++i) {
          const std::int64_t m = order(first_order, thread, i);
          if (m > tile.limit) continue;
          multiply(output, tile, m, modes[thread].of[i], sums[thread].of[i]);
        }
      });
    }
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < orders_of_thread; ++i) {
        const std::int64_t m = order(first_order, thread, i);
        if (m > output.limit) continue;
        if (output.is_own) store(output.ring, m, sums[thread].of[i][0]);
        if (output.is_mirror_own) store(mirror(output.ring), m, sums[thread].of[i][1]);
      }
    });
  }

 private:
  static RINGWEAVE_HOST_DEVICE std::int64_t order(std::int64_t first, int thread, int i) {
    return first + i * block_threads + thread;
  }
  RINGWEAVE_HOST_DEVICE std::int64_t mirror(std::int64_t ring) const {
    return tables.n_rings - 1 - ring;
  }
  static RINGWEAVE_HOST_DEVICE void clear(Sums& sums) {
    RINGWEAVE_UNROLL
    for (int i = 0; i < orders_of_thread; ++i) {
      RINGWEAVE_UNROLL
      for (int map = 0; map < maps; ++map) sums.of[i][0][map] = sums.of[i][1][map] = {0, 0};
    }
  }

  template <class Block, class PerThread>
  RINGWEAVE_LAUNCH void sum_samples(const Block& block, const OutputRing& output,
                                    const PartnerTile& tile, std::int64_t first_order,
                                    Shared& shared, PerThread& modes) const {
    const SampleRule rule = tables.rules[tile.rule];
    block.each([&](int thread) {
      if (thread < tile.n_partners) {
        shared.pairs[thread] =
            Pair::of(tables.rings[output.ring], tables.rings[tile.first + thread * tile.step]);
      }
      RINGWEAVE_UNROLL
      for (int i = 0; i < orders_of_thread; ++i) {
        RINGWEAVE_UNROLL
        for (int p = 0; p < partners; ++p) modes[thread].of[i][p] = Value{};
      }
    });
    for (int begin = 0; begin < tile.n_samples; begin += samples_together) {
      const int left = tile.n_samples - begin;
      const int n = left < samples_together ? left : samples_together;
      // The pairs are there, and the samples before are not needed any more.
      block.sync();
      block.each([&](int thread) {
        for (int k = thread; k < n * partners; k += block_threads) {
          const int j = k / partners;
          const int p = k % partners;
          shared.samples[j][p] = p < tile.n_partners
                                     ? sample(rule, shared.pairs[p], 2 * (begin + j) + tile.half)
                                     : Value{};
        }
      });
      block.sync();
      block.each([&](int thread) {
        RINGWEAVE_UNROLL
        for (int i = 0; i < orders_of_thread; ++i) {
          const std::int64_t m = order(first_order, thread, i);
          add_samples(rule, m, 2 * begin + tile.half, n, shared, modes[thread].of[i]);
        }
      });
    }
  }

  /// Returns the kernel at half a step times `halves`, times the weight of the sample.
  RINGWEAVE_HOST_DEVICE Value sample(const SampleRule& rule, const Pair& pair,
                                     std::int64_t halves) const {
    // All samples except those at 0 and pi stand for two.
    const double count = halves == 0 || halves == rule.around ? 1 : 2;
    const LongitudeApart apart{tables.sines[rule.sines + halves],
                               unit_power(tables.powers + rule.powers, halves).y};
    return fields.value(kernel, pair, apart, count / static_cast<double>(rule.around));
  }

  RINGWEAVE_HOST_DEVICE void add_samples(const SampleRule& rule, std::int64_t m, int halves, int n,
                                         const Shared& shared, Value* modes) const {
    const Double2* powers = tables.powers + rule.powers;
    const std::int64_t turn = 2 * rule.around;
    Double2 at = unit_power(powers, m * halves % turn);
    const Double2 step = unit_power(powers, 2 * m % turn);
    for (int j = 0; j < n; ++j) {
      RINGWEAVE_UNROLL
      for (int p = 0; p < partners; ++p) Fields::add_sample(shared.samples[j][p], at, modes[p]);
      at = product(at, step);
    }
  }

  RINGWEAVE_HOST_DEVICE void multiply(const OutputRing& output, const PartnerTile& tile,
                                      std::int64_t m, const Value* modes,
                                      Array<Double2, maps>* sums) const {
    const OrderSegments order = tables.orders[m];
    RINGWEAVE_UNROLL
    for (int p = 0; p < partners; ++p) {
      if (p >= tile.n_partners) continue;
      const std::int64_t ring = tile.first + p * tile.step;
      if (output.is_own) add(order, ring, modes[p], sums[0]);
      if (output.is_mirror_own) add(order, mirror(ring), Fields::mirrored(modes[p]), sums[1]);
    }
  }
  RINGWEAVE_HOST_DEVICE void add(const OrderSegments& order, std::int64_t ring, Value mode,
                                 Double2* sums) const {
    const std::int64_t position = position_of(order, tables.segments, ring);
    if (position >= 0) Fields::add_modes(mode, in + position * n_components + first_map, sums);
  }
  RINGWEAVE_HOST_DEVICE void store(std::int64_t ring, std::int64_t m, const Double2* sums) const {
    const std::int64_t position = position_of(tables.own_orders[m], tables.own_segments, ring);
    if (position < 0) return;
    const double factor = halves_nyquist && 2 * m == tables.rings[ring].n_phi ? 0.5 : 1;
    Double2* to = out + position * n_components + first_map;
    RINGWEAVE_UNROLL
    for (int map = 0; map < maps; ++map) to[map] = scaled(factor, sums[map]);
  }
};

}  // namespace ringweave::detail::gpu
