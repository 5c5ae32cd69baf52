// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/pixel_pieces.hpp"

#include <algorithm>

#include "distribute/points/point_order.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline distribute {

PixelPieces::PixelPieces(const RingGrid& grid, std::int64_t n_rows) : grid_(&grid) {
  for (std::int64_t ring = 0; ring < grid.n_rings(); ++ring) {
    const Ring& here = grid.ring(RingId{ring});
    const std::int64_t row = row_position(here.theta, n_rows).index;
    const std::int64_t first_row = row / PointOrder::tile_rows * PointOrder::tile_rows;
    if (blocks_.empty() || blocks_.back().first_row != first_row)
      blocks_.push_back({{ring, ring}, first_row, 1});
    Block& block = blocks_.back();
    block.rings.end = ring + 1;
    block.n_sectors = std::max(block.n_sectors, (here.n_phi - 1) / most_pixels + 1);
  }
}

std::int64_t PixelPieces::block_of(std::int64_t ring) const {
  const auto next = std::upper_bound(
      blocks_.begin(), blocks_.end(), ring,
      [](std::int64_t number, const Block& block) { return number < block.rings.begin; });
  return next - blocks_.begin() - 1;
}

PixelPiece PixelPieces::piece(const Block& block, std::int64_t sector, std::int64_t ring) const {
  const std::int64_t n_phi = grid_->ring(RingId{ring}).n_phi;
  const std::int64_t first = n_phi * sector / block.n_sectors;
  return {ring, first, n_phi * (sector + 1) / block.n_sectors - first};
}

}  // namespace ringweave::detail::inline distribute
