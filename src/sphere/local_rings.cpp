// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/local_rings.hpp"

#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave {

LocalRings::LocalRings(std::shared_ptr<const RingGrid> grid, RingRange north, RingRange south)
    : grid_(std::move(grid)), north_(north), south_(south) {
  first_pixel_.reserve(to_size(n_rings()));
  std::array<RingRange, 2> parts{north_, south_};
  for (std::size_t part = 0; part < 2; ++part) {
    const std::int64_t begin = n_pixels_;
    for (std::int64_t r = parts[part].begin; r < parts[part].end; ++r) {
      first_pixel_.push_back(n_pixels_);
      n_pixels_ += grid_->ring(RingId{r}).n_phi;
    }
    if (!parts[part].empty()) {
      slabs_[part] = {grid_->ring(RingId{parts[part].begin}).first_pixel, begin, n_pixels_ - begin};
    }
  }
}

LocalRings::LocalRings(std::shared_ptr<const RingGrid> grid)
    : LocalRings(grid, RingRange{0, grid->n_rings()}, RingRange{}) {}

}  // namespace ringweave
