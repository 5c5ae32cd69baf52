// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sphere/ring_grid.hpp"

namespace ringweave {

/// Consecutive pixels that are consecutive both in the grid and in a rank's memory.
struct PixelSlab {
  std::int64_t first_global = 0;
  std::int64_t first_local = 0;
  std::int64_t count = 0;
};

/// Consecutive rings that are consecutive both in the grid and in a rank's memory.
struct RingBand {
  RingRange rings;
  LocalRing first{};  ///< local number of rings.begin

  LocalRing local(std::int64_t ring) const {
    return LocalRing{index(first) + (ring - rings.begin)};
  }
};

/// The rings one rank owns: a few bands (a part of every section of the north, and their mirrors in
/// the south, see RingDistribution). Rings and pixels lie from north to south, so a rank's map is
/// as many slabs of the RING-ordered map as there are bands.
class LocalRings {
 public:
  /// The bands go from north to south; empty ones are left out and those that touch become one.
  /// Error  UsageError when they overlap, go another way or leave the grid.
  LocalRings(std::shared_ptr<const RingGrid> grid, std::span<const RingRange> bands);
  LocalRings(std::shared_ptr<const RingGrid> grid, std::initializer_list<RingRange> bands);
  /// All rings of the grid (one rank).
  explicit LocalRings(std::shared_ptr<const RingGrid> grid);

  const RingGrid& grid() const { return *grid_; }
  const std::shared_ptr<const RingGrid>& shared_grid() const { return grid_; }
  /// From north to south; none is empty and no two touch.
  std::span<const RingBand> bands() const { return bands_; }
  /// The pixels of each band.
  std::span<const PixelSlab> slabs() const { return slabs_; }
  std::int64_t n_rings() const { return static_cast<std::int64_t>(first_pixel_.size()); }
  std::int64_t n_pixels() const { return n_pixels_; }

  RingId global(LocalRing ring) const {
    const RingBand* band = &bands_.front();
    while (index(ring) >= index(band->first) + band->rings.size()) ++band;
    return RingId{band->rings.begin + index(ring) - index(band->first)};
  }
  bool owns(RingId ring) const { return band_of(ring) != nullptr; }
  /// Local number of an owned ring.
  LocalRing local(RingId ring) const { return band_of(ring)->local(index(ring)); }
  const Ring& ring(LocalRing ring) const { return grid_->ring(global(ring)); }
  /// Local number of the ring's pixel 0.
  std::int64_t first_pixel(LocalRing ring) const {
    return first_pixel_[static_cast<std::size_t>(ring)];
  }
  /// The owned rings that lie in `range`.
  LocalRings within(RingRange range) const;

 private:
  void add(RingRange rings);
  const RingBand* band_of(RingId ring) const {
    for (const RingBand& band : bands_)
      if (band.rings.contains(index(ring))) return &band;
    return nullptr;
  }

  std::shared_ptr<const RingGrid> grid_;
  std::vector<RingBand> bands_;
  std::vector<PixelSlab> slabs_;
  std::int64_t n_pixels_ = 0;
  std::vector<std::int64_t> first_pixel_;
};

}  // namespace ringweave
