// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "base/buffer.hpp"
#include "base/scratch_arena.hpp"
#include "sphere/mode_layout.hpp"
#include "sphere/ring_grid.hpp"

namespace ringweave {

/// A few rings one thread works on together: a run of the north and its mirror in the south
/// (see RingPlan for rings that have none).
using RingBlock = std::array<RingRange, 2>;

/// The modes of one block of rings turned from [m][ring][component], as the rows hold them, to
/// [ring][component][m], as an FFT wants them. The block is chosen so that the tile stays in the
/// cache and the runs read from each row are whole cache lines.
class ModeTile {
 public:
  ModeTile() = default;
  ModeTile(std::int64_t n_rings, std::int64_t n_components, std::int64_t n_modes);
  void place(ScratchArena& pieces) { values_ = pieces.take<std::complex<double>>(size_); }

  /// Bytes of one ring's modes in a tile.
  static std::int64_t bytes_per_ring(std::int64_t n_components, std::int64_t n_modes);

  /// Modes of one ring and component, order by order from 0. Rings count through the block, north
  /// then south.
  std::complex<double>* modes(std::int64_t ring, std::int64_t component) {
    return values_ + (ring * n_components_ + component) * stride_;
  }
  /// Reads what the rows hold for the block, which is nothing from order n_modes on; other entries
  /// keep what they held.
  void gather(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
              const std::complex<double>* modes) noexcept;
  /// Writes what the rows hold for the block.
  void scatter(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
               std::complex<double>* modes) noexcept;
  std::int64_t bytes() const {
    return places_.size() * static_cast<std::int64_t>(sizeof(std::int64_t));
  }

 private:
  /// Fills places_ with where each order's modes of the whole run begin, or -1. Calls
  /// part(position, first tile row, number of values, m) for what the rows hold of the run in
  /// parts.
  template <class Part>
  void locate(const ModeLayout& rows, const RingRange& run, std::int64_t n_modes,
              std::int64_t first_row, const Part& part) noexcept;

  std::int64_t n_components_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t size_ = 0;
  std::complex<double>* values_ = nullptr;
  HostBuffer<std::int64_t> places_;  ///< [m]
};

}  // namespace ringweave
