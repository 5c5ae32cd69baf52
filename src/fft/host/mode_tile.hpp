// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::inline fft {

/// Rings one thread processes together: a run of the north and its mirror in the south (see
/// RingPlan for rings without a mirror).
using RingBlock = std::array<RingRange, 2>;

/// The modes of one block of rings, transposed from [m][ring][component], as in the rows, to
/// [ring][component][m], as an FFT needs them. Blocks are sized so that the tile stays in the cache
/// and whole cache lines are read from each row.
class ModeTile {
 public:
  ModeTile() = default;
  ModeTile(std::int64_t n_rings, std::int64_t n_components, std::int64_t n_modes);
  void place(ScratchArena& pieces) { values_ = pieces.allocate<std::complex<double>>(size_); }

  /// Returns the bytes of one ring's modes in a tile.
  static std::int64_t bytes_per_ring(std::int64_t n_components, std::int64_t n_modes);

  /// Returns the modes of one ring and component for orders from 0 on. Rings are numbered within
  /// the block, north first, then south.
  std::complex<double>* modes(std::int64_t ring, std::int64_t component) {
    return values_ + (ring * n_components_ + component) * stride_;
  }
  /// Reads the modes the rows hold for the block, below order n_modes; other entries are unchanged.
  void gather(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
              const std::complex<double>* modes) noexcept;
  /// Writes the modes the rows hold for the block.
  void scatter(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
               std::complex<double>* modes) noexcept;
  std::int64_t bytes() const { return held_bytes(places_); }

 private:
  /// Fills places_ with the position of each order's modes of the whole run, or -1. Calls
  /// part(position, first tile row, number of values, m) for orders the rows hold only in part.
  template <class Part>
  void locate(const ModeLayout& rows, const RingRange& run, std::int64_t n_modes,
              std::int64_t first_row, const Part& part) noexcept;

  template <class Way, class Mode>
  void move(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
            Mode* modes) noexcept;

  std::int64_t n_components_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t size_ = 0;
  std::complex<double>* values_ = nullptr;
  HostBuffer<std::int64_t> places_;  ///< [m]
};

}  // namespace ringweave::detail::inline fft
