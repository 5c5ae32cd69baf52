// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave {

using namespace detail;

LocalRings::LocalRings(std::shared_ptr<const RingGrid> grid, std::span<const RingRange> bands)
    : grid_(std::move(grid)) {
  std::int64_t last = 0;
  for (const RingRange& rings : bands) {
    if (rings.empty()) continue;
    if (rings.begin < last || rings.end > grid_->n_rings()) {
      throw UsageError(fmt::format(
          "a rank is given the rings {} to {}; expected bands from north to south, within {} to {}",
          rings.begin, rings.end - 1, last, grid_->n_rings() - 1));
    }
    last = rings.end;
    add(rings);
  }
}

LocalRings::LocalRings(std::shared_ptr<const RingGrid> grid, std::initializer_list<RingRange> bands)
    : LocalRings(std::move(grid), std::span(bands.begin(), bands.size())) {}

LocalRings::LocalRings(std::shared_ptr<const RingGrid> grid)
    : LocalRings(grid, {RingRange{0, grid->n_rings()}}) {}

LocalRings LocalRings::within(RingRange range) const {
  std::vector<RingRange> parts;
  for (const RingBand& band : bands_) parts.push_back(intersection(band.rings, range));
  return {grid_, parts};
}

void LocalRings::add(RingRange rings) {
  if (bands_.empty() || bands_.back().rings.end < rings.begin) {
    bands_.push_back({{rings.begin, rings.begin}, LocalRing{n_rings()}});
    slabs_.push_back({grid_->ring(RingId{rings.begin}).first_pixel, n_pixels_, 0});
  }
  bands_.back().rings.end = rings.end;
  for (std::int64_t r = rings.begin; r < rings.end; ++r) {
    first_pixel_.push_back(n_pixels_);
    n_pixels_ += grid_->ring(RingId{r}).n_phi;
  }
  slabs_.back().count = n_pixels_ - slabs_.back().first_local;
}

}  // namespace ringweave
