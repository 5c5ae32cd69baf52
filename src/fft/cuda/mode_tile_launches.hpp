// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "fft/cuda/ring_arithmetic.hpp"
#include "fft/cuda/ring_batches.hpp"
#include "sphere/row_position.hpp"

namespace ringweave::gpu {

/// What the launches between modes and rows share. A column is one component of one ring. A block
/// takes some columns, whose modes of one order lie side by side, and some bins k of each with
/// their mirrors n_complex - k, which one step of an FFT of half the length needs together. Modes
/// pass through shared memory: threads side by side take columns there, and bins here.
struct ModeTiles {
  static constexpr int tile_columns = 16;
  static constexpr int bins = warp_lanes;
  static constexpr int columns_per_thread = tile_columns / block_warps;
  static constexpr int loads_per_thread = bins * tile_columns / block_threads;

  struct Column {
    PlannedRing ring;
    std::int64_t component;
    Double2* row;
  };
  struct Shared {
    Column columns[tile_columns];
    // One column more than are used: threads that take bins side by side then meet no bank twice.
    Double2 near[bins][tile_columns + 1];
    Double2 far[bins][tile_columns + 1];
  };

  RingRows batch;
  RingModeTables modes;
  std::int64_t n_bin_tiles;

  /// Bins 0 .. bin_count - 1 of a ring and their mirrors are all its bins.
  static RINGWEAVE_HOST_DEVICE std::int64_t bin_count(std::int64_t n_phi) {
    return n_phi % 2 == 0 ? n_phi / 4 + 1 : n_phi / 2 + 1;
  }
  static std::int64_t bin_tiles(std::int64_t most_bins) { return (most_bins + bins - 1) / bins; }

  RINGWEAVE_HOST_DEVICE std::int64_t n_columns() const {
    return batch.n_rings * modes.n_components;
  }
  std::int64_t n_blocks() const {
    return (n_columns() + tile_columns - 1) / tile_columns * n_bin_tiles;
  }

  /// What a block does.
  struct Tile {
    std::int64_t first_bin;
    int n_columns;
    std::int64_t n_aliases;  ///< that any of its rings has
  };
  template <class Block>
  RINGWEAVE_LAUNCH Tile begin(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), n_bin_tiles);
    const std::int64_t first_column = at.whole * tile_columns;
    const std::int64_t left = n_columns() - first_column;
    Tile tile{at.rest * bins, left < tile_columns ? static_cast<int>(left) : tile_columns, 0};
    block.each([&](int thread) {
      if (thread >= tile.n_columns) return;
      const Quotient column = divide(first_column + thread, modes.n_components);
      shared.columns[thread] = {batch.rings[column.whole], column.rest,
                                batch.row(column.whole, column.rest)};
    });
    block.sync();
    for (int column = 0; column < tile.n_columns; ++column) {
      const std::int64_t count = shared.columns[column].ring.n_aliases;
      tile.n_aliases = count > tile.n_aliases ? count : tile.n_aliases;
    }
    return tile;
  }

  /// Calls work(thread, i, bin of the tile, column) for the i-th of a thread's columns.
  template <class Block, class Work>
  RINGWEAVE_LAUNCH void each_of_columns(const Block& block, const Tile& tile,
                                        const Work& work) const {
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < columns_per_thread; ++i) {
        const int column = thread / warp_lanes + i * block_warps;
        if (column < tile.n_columns) work(thread, i, thread % warp_lanes, column);
      }
    });
  }
  /// Calls work(bin of the tile, column) for what a thread moves between modes and shared memory.
  template <class Block, class Work>
  RINGWEAVE_LAUNCH void each_of_modes(const Block& block, const Tile& tile,
                                      const Work& work) const {
    block.each([&](int thread) {
      const int column = thread % tile_columns;
      if (column >= tile.n_columns) return;
      RINGWEAVE_UNROLL
      for (int i = 0; i < loads_per_thread; ++i) {
        work(thread / tile_columns + i * (block_threads / tile_columns), column);
      }
    });
  }

  /// Index of the mode of an order in the modes; -1: there is none.
  RINGWEAVE_HOST_DEVICE std::int64_t mode_index(const Column& column, std::int64_t m) const {
    if (m < 0 || m >= column.ring.n_modes) return -1;
    const OrderSegments order = modes.orders[m];
    const std::int64_t position =
        position_in(modes.segments + order.first, order.count, column.ring.ring);
    return position < 0 ? -1 : position * modes.n_components + column.component;
  }
  /// exp(i m phi0).
  RINGWEAVE_HOST_DEVICE Double2 phase(const PlannedRing& ring, std::int64_t m) const {
    return unit_power(modes.factors + ring.phases, m);
  }
  /// Value k of a row, with its factor of the chirp where the ring goes by one.
  RINGWEAVE_HOST_DEVICE Double2 chirped(const PlannedRing& ring, std::int64_t k,
                                        Double2 value) const {
    if (ring.chirp < 0) return value;
    return product(value, chirp_value(modes.factors + ring.roots, ring.n_complex, k));
  }
  static RINGWEAVE_HOST_DEVICE bool is_even(const PlannedRing& ring) { return ring.n_phi % 2 == 0; }
};

/// Modes -> the input of the complex FFTs: phases, folding in ascending order, packing for half the
/// length. What is beyond it becomes zero.
struct FillRows {
  using Shared = ModeTiles::Shared;
  static constexpr int least_blocks = 4;
  ModeTiles tiles;
  const Double2* modes;

  /// Bins k and n_complex - k of each of a thread's columns.
  struct Bins {
    Double2 near;
    Double2 far;
  };
  using ThreadBins = Array<Bins, ModeTiles::columns_per_thread>;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const ModeTiles::Tile tile = tiles.begin(block, shared);
    typename Block::template PerThread<ThreadBins> bins;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < ModeTiles::columns_per_thread; ++i) bins[thread][i] = {{0, 0}, {0, 0}};
    });
    for (std::int64_t alias = 0; alias < tile.n_aliases; ++alias) {
      load(block, shared, tile, alias);
      block.sync();
      tiles.each_of_columns(block, tile, [&](int thread, int i, int bin, int column) {
        const PlannedRing& ring = shared.columns[column].ring;
        const std::int64_t k = tile.first_bin + bin;
        Bins& both = bins[thread][i];
        add(ring, alias, k, shared.near[bin][column], both.near);
        add(ring, alias, ring.n_complex - k, shared.far[bin][column], both.far);
      });
      block.sync();
    }
    tiles.each_of_columns(block, tile, [&](int thread, int i, int bin, int column) {
      store(shared.columns[column], tile.first_bin + bin, bins[thread][i]);
    });
  }

 private:
  template <class Block>
  RINGWEAVE_LAUNCH void load(const Block& block, Shared& shared, const ModeTiles::Tile& tile,
                             std::int64_t alias) const {
    tiles.each_of_modes(block, tile, [&](int bin, int at) {
      const ModeTiles::Column& column = shared.columns[at];
      const std::int64_t n = column.ring.n_phi;
      const std::int64_t k = tile.first_bin + bin;
      const bool is_there = k < ModeTiles::bin_count(n);
      const bool has_mirror = is_there && ModeTiles::is_even(column.ring);
      shared.near[bin][at] = is_there ? mode(column, alias_order(n, alias, k)) : Double2{0, 0};
      shared.far[bin][at] =
          has_mirror ? mode(column, alias_order(n, alias, n / 2 - k)) : Double2{0, 0};
    });
  }
  RINGWEAVE_HOST_DEVICE Double2 mode(const ModeTiles::Column& column, std::int64_t m) const {
    const std::int64_t index = tiles.mode_index(column, m);
    return index < 0 ? Double2{0, 0} : modes[index];
  }

  /// Adds the mode of an alias to bin k.
  RINGWEAVE_HOST_DEVICE void add(const PlannedRing& ring, std::int64_t alias, std::int64_t k,
                                 Double2 mode, Double2& bin) const {
    if (k < 0) return;
    const std::int64_t m = alias_order(ring.n_phi, alias, k);
    if (m < 0 || m >= ring.n_modes) return;
    if (ring.phases >= 0) mode = product(mode, tiles.phase(ring, m));
    if (k == 0) {
      bin.x += alias == 0 ? mode.x : 2 * mode.x;
    } else if (2 * k == ring.n_phi) {
      bin.x += 2 * mode.x;
    } else {
      bin = sum(bin, alias % 2 == 0 ? mode : conjugate(mode));
    }
  }

  RINGWEAVE_HOST_DEVICE void store(const ModeTiles::Column& column, std::int64_t k,
                                   const Bins& bins) const {
    const PlannedRing& ring = column.ring;
    Double2* row = column.row;
    const std::int64_t n = ring.n_complex;
    const std::int64_t step = tiles.n_bin_tiles * ModeTiles::bins;
    for (std::int64_t beyond = n + k; beyond < tiles.batch.row_length; beyond += step) {
      row[beyond] = {0, 0};
    }
    if (k >= ModeTiles::bin_count(ring.n_phi)) return;
    if (!ModeTiles::is_even(ring)) {
      row[k] = tiles.chirped(ring, k, bins.near);
      if (k > 0) row[n - k] = tiles.chirped(ring, n - k, conjugate(bins.near));
      return;
    }
    if (k == 0) {
      row[0] = {bins.near.x + bins.far.x, bins.near.x - bins.far.x};
      return;
    }
    const Double2 mirrored = conjugate(bins.far);
    const Double2 even = sum(bins.near, mirrored);
    const Double2 root = unit_power(tiles.modes.factors + ring.roots, k);
    const Double2 odd = times_i(product(root, difference(bins.near, mirrored)));
    row[k] = tiles.chirped(ring, k, sum(even, odd));
    if (2 * k < n) {
      row[n - k] = tiles.chirped(ring, n - k, conjugate(difference(even, odd)));
    }
  }
};

/// The transpose: the backward FFT of f_{2j} + i f_{2j+1} (or of f_j) -> modes, repeated on all
/// aliases, times the weight of the ring.
struct UnfoldRows {
  using Shared = ModeTiles::Shared;
  static constexpr int least_blocks = 4;
  ModeTiles tiles;
  const double* weights;  ///< [owned ring]; null: 1
  Double2* modes;

  using Bins = FillRows::Bins;
  using ThreadBins = FillRows::ThreadBins;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const ModeTiles::Tile tile = tiles.begin(block, shared);
    typename Block::template PerThread<ThreadBins> bins;
    tiles.each_of_columns(block, tile, [&](int thread, int i, int bin, int column) {
      bins[thread][i] = load(shared.columns[column], tile.first_bin + bin);
    });
    for (std::int64_t alias = 0; alias < tile.n_aliases; ++alias) {
      tiles.each_of_columns(block, tile, [&](int thread, int i, int bin, int column) {
        const PlannedRing& ring = shared.columns[column].ring;
        const std::int64_t k = tile.first_bin + bin;
        const Bins& both = bins[thread][i];
        shared.near[bin][column] = shifted(ring, alias, k, both.near);
        shared.far[bin][column] = shifted(ring, alias, ring.n_complex - k, both.far);
      });
      block.sync();
      store(block, shared, tile, alias);
      block.sync();
    }
  }

 private:
  RINGWEAVE_HOST_DEVICE Bins load(const ModeTiles::Column& column, std::int64_t k) const {
    const PlannedRing& ring = column.ring;
    const Double2* row = column.row;
    if (k >= ModeTiles::bin_count(ring.n_phi)) return {{0, 0}, {0, 0}};
    const std::int64_t n = ring.n_complex;
    const double weight = weights == nullptr ? 1 : weights[ring.local];
    const Double2 here = tiles.chirped(ring, k, row[k]);
    if (!ModeTiles::is_even(ring)) return {scaled(weight, conjugate(here)), {0, 0}};
    if (k == 0) return {{weight * (here.x + here.y), 0}, {weight * (here.x - here.y), 0}};
    const Double2 direct = 2 * k == n ? here : tiles.chirped(ring, n - k, row[n - k]);
    const Double2 mirrored = conjugate(here);
    const double half = 0.5 * weight;
    const Double2 even = scaled(half, sum(direct, mirrored));
    const Double2 root = unit_power(tiles.modes.factors + ring.roots, k);
    const Double2 odd =
        times_i(conjugate_product(root, scaled(half, difference(mirrored, direct))));
    return {sum(even, odd), conjugate(difference(even, odd))};
  }

  /// Mode m of bin k.
  RINGWEAVE_HOST_DEVICE Double2 shifted(const PlannedRing& ring, std::int64_t alias, std::int64_t k,
                                        Double2 bin) const {
    if (k < 0) return {0, 0};
    const std::int64_t m = alias_order(ring.n_phi, alias, k);
    if (m < 0 || m >= ring.n_modes) return {0, 0};
    if (alias % 2 != 0) bin = conjugate(bin);
    return ring.phases < 0 ? bin : conjugate_product(tiles.phase(ring, m), bin);
  }

  template <class Block>
  RINGWEAVE_LAUNCH void store(const Block& block, const Shared& shared, const ModeTiles::Tile& tile,
                              std::int64_t alias) const {
    tiles.each_of_modes(block, tile, [&](int bin, int at) {
      const ModeTiles::Column& column = shared.columns[at];
      const std::int64_t n = column.ring.n_phi;
      const std::int64_t k = tile.first_bin + bin;
      if (k >= ModeTiles::bin_count(n)) return;
      put(column, alias_order(n, alias, k), shared.near[bin][at]);
      const std::int64_t mirror = n / 2 - k;
      if (!ModeTiles::is_even(column.ring) || mirror == k) return;
      put(column, alias_order(n, alias, mirror), shared.far[bin][at]);
    });
  }
  RINGWEAVE_HOST_DEVICE void put(const ModeTiles::Column& column, std::int64_t m,
                                 Double2 mode) const {
    const std::int64_t index = tiles.mode_index(column, m);
    if (index >= 0) modes[index] = mode;
  }
};

}  // namespace ringweave::gpu
