// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sphere/ring_grid.hpp"

namespace ringweave {

/// Consecutive pixels that are consecutive both in the grid and in a rank's memory.
struct PixelSlab {
  std::int64_t first_global = 0;
  std::int64_t first_local = 0;
  std::int64_t count = 0;
};

/// The rings one rank owns: a band of the north, then its mirror in the south, each from north to
/// south. Its pixels lie in that order, so a rank's map is two slabs of the RING-ordered map.
class LocalRings {
 public:
  LocalRings(std::shared_ptr<const RingGrid> grid, RingRange north, RingRange south);
  /// All rings of the grid (one rank).
  explicit LocalRings(std::shared_ptr<const RingGrid> grid);

  const RingGrid& grid() const { return *grid_; }
  const std::shared_ptr<const RingGrid>& shared_grid() const { return grid_; }
  RingRange north() const { return north_; }
  RingRange south() const { return south_; }
  std::int64_t n_rings() const { return north_.size() + south_.size(); }
  std::int64_t n_pixels() const { return n_pixels_; }

  RingId global(LocalRing ring) const {
    const std::int64_t i = index(ring);
    return RingId{i < north_.size() ? north_.begin + i : south_.begin + (i - north_.size())};
  }
  bool owns(RingId ring) const {
    return north_.contains(index(ring)) || south_.contains(index(ring));
  }
  /// Local number of an owned ring.
  LocalRing local(RingId ring) const {
    const std::int64_t i = index(ring);
    return LocalRing{north_.contains(i) ? i - north_.begin : north_.size() + i - south_.begin};
  }
  const Ring& ring(LocalRing ring) const { return grid_->ring(global(ring)); }
  /// Local number of the ring's pixel 0.
  std::int64_t first_pixel(LocalRing ring) const {
    return first_pixel_[static_cast<std::size_t>(ring)];
  }
  std::array<PixelSlab, 2> slabs() const { return slabs_; }  ///< north, south; either may be empty

 private:
  std::shared_ptr<const RingGrid> grid_;
  RingRange north_;
  RingRange south_;
  std::int64_t n_pixels_ = 0;
  std::vector<std::int64_t> first_pixel_;
  std::array<PixelSlab, 2> slabs_;
};

}  // namespace ringweave
