// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "fft/cuda/ring_arithmetic.hpp"
#include "fft/cuda/ring_batches.hpp"

namespace ringweave::detail::gpu {

/// Common part of the launches between modes and rows. A column is one component of one ring. A
/// block processes some columns, whose modes of one order are contiguous, and some bins k of each
/// together with their mirrors n_complex - k, because one step of a half-length FFT needs both.
/// Modes pass through shared memory: consecutive threads access consecutive columns of the modes,
/// but consecutive bins of the rows.
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
    // One unused column, so that threads with consecutive bins have no bank conflicts.
    Double2 near[bins][tile_columns + 1];
    Double2 far[bins][tile_columns + 1];
  };

  RingRows batch;
  RingModeTables modes;
  std::int64_t n_bin_tiles;

  /// Returns the number of bins from 0 on that, with their mirrors, are all bins of a ring.
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

  /// Work of one block.
  struct Tile {
    std::int64_t first_bin;
    int n_columns;
    std::int64_t n_aliases;  ///< the most of any of its rings
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

  /// Calls work(thread, i, bin of the tile, column) for the i-th column of each thread.
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
  /// Returns the bin that a thread moves between modes and shared memory for column thread %
  /// tile_columns.
  static RINGWEAVE_HOST_DEVICE int moved_bin(int thread, int i) {
    return thread / tile_columns + i * (block_threads / tile_columns);
  }

  /// Returns the index of the mode of an order, or -1 if there is none.
  RINGWEAVE_HOST_DEVICE std::int64_t mode_index(const Column& column, std::int64_t m) const {
    if (m < 0 || m >= column.ring.n_modes) return -1;
    const std::int64_t position = position_of(modes.orders[m], modes.segments, column.ring.ring);
    return position < 0 ? -1 : position * modes.n_components + column.component;
  }
  /// Returns exp(i m phi0).
  RINGWEAVE_HOST_DEVICE Double2 phase(const PlannedRing& ring, std::int64_t m) const {
    return unit_power(modes.factors + ring.phases, m);
  }
  /// Returns value k of a row, times its chirp factor if the ring uses a chirp.
  RINGWEAVE_HOST_DEVICE Double2 chirped(const PlannedRing& ring, std::int64_t k,
                                        Double2 value) const {
    if (ring.chirp < 0) return value;
    return product(value, chirp_value(modes.factors + ring.roots, ring.n_complex, k));
  }
  static RINGWEAVE_HOST_DEVICE bool is_even(const PlannedRing& ring) { return ring.n_phi % 2 == 0; }
};

/// Computes the input of the complex FFTs from modes: applies phases, folds in ascending order,
/// packs for half the length, and pads with zeros.
struct FillRows {
  using Shared = ModeTiles::Shared;
  static constexpr int least_blocks = 5;
  ModeTiles tiles;
  const Double2* modes;

  /// Bins k and n_complex - k for each column of a thread.
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
    block.each([&](int thread) {
      const int at = thread % ModeTiles::tile_columns;
      if (at >= tile.n_columns) return;
      const ModeTiles::Column& column = shared.columns[at];
      const std::int64_t n = column.ring.n_phi;
      // Find all positions before reading any mode, so that the loads overlap.
      Array<std::int64_t, ModeTiles::loads_per_thread> near;
      Array<std::int64_t, ModeTiles::loads_per_thread> far;
      RINGWEAVE_UNROLL
      for (int i = 0; i < ModeTiles::loads_per_thread; ++i) {
        const std::int64_t k = tile.first_bin + ModeTiles::moved_bin(thread, i);
        const bool is_there = k < ModeTiles::bin_count(n);
        const bool has_mirror = is_there && ModeTiles::is_even(column.ring);
        near[i] = is_there ? tiles.mode_index(column, alias_order(n, alias, k)) : -1;
        far[i] = has_mirror ? tiles.mode_index(column, alias_order(n, alias, n / 2 - k)) : -1;
      }
      RINGWEAVE_UNROLL
      for (int i = 0; i < ModeTiles::loads_per_thread; ++i) {
        const int bin = ModeTiles::moved_bin(thread, i);
        shared.near[bin][at] = near[i] < 0 ? Double2{0, 0} : modes[near[i]];
        shared.far[bin][at] = far[i] < 0 ? Double2{0, 0} : modes[far[i]];
      }
    });
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

/// Applies the transpose: computes modes, repeated on all aliases and times the weight of the ring,
/// from the backward FFT of f_{2j} + i f_{2j+1} (or of f_j).
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

  /// Returns mode m, which belongs to bin k.
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
    block.each([&](int thread) {
      const int at = thread % ModeTiles::tile_columns;
      if (at >= tile.n_columns) return;
      const ModeTiles::Column& column = shared.columns[at];
      const std::int64_t n = column.ring.n_phi;
      RINGWEAVE_UNROLL
      for (int i = 0; i < ModeTiles::loads_per_thread; ++i) {
        const int bin = ModeTiles::moved_bin(thread, i);
        const std::int64_t k = tile.first_bin + bin;
        if (k >= ModeTiles::bin_count(n)) continue;
        put(column, alias_order(n, alias, k), shared.near[bin][at]);
        const std::int64_t mirror = n / 2 - k;
        if (!ModeTiles::is_even(column.ring) || mirror == k) continue;
        put(column, alias_order(n, alias, mirror), shared.far[bin][at]);
      }
    });
  }
  RINGWEAVE_HOST_DEVICE void put(const ModeTiles::Column& column, std::int64_t m,
                                 Double2 mode) const {
    const std::int64_t index = tiles.mode_index(column, m);
    if (index >= 0) modes[index] = mode;
  }
};

}  // namespace ringweave::detail::gpu
