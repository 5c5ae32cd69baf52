// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail::inline distribute {

/// Neighbouring pixels of a ring.
struct PixelPiece {
  std::int64_t ring;   ///< of the whole grid
  std::int64_t first;  ///< pixel of the ring
  std::int64_t count;
};

/// The rings of a grid, cut into pieces, and the order of these: by blocks of rings that are
/// nearest to the same PointOrder::tile_rows fine rows, from the north; in a block by sectors of
/// longitude; in a sector by rings. So the order follows from the grid and the number of rows
/// alone, and neighbours in it mostly have the same rows and columns, if pixels are moved by a few
/// rows. Plain data, the same on every rank.
class PixelPieces {
 public:
  static constexpr std::int64_t most_pixels = 256;

  struct Block {
    RingRange rings;
    std::int64_t first_row;  ///< a multiple of PointOrder::tile_rows
    std::int64_t n_sectors;
  };

  PixelPieces(const RingGrid& grid, std::int64_t n_rows);

  std::span<const Block> blocks() const { return blocks_; }
  /// Returns the number of the block with a ring.
  std::int64_t block_of(std::int64_t ring) const;
  /// Returns the pixels of a ring in a sector of its block; there may be none.
  PixelPiece piece(const Block& block, std::int64_t sector, std::int64_t ring) const;

 private:
  const RingGrid* grid_;
  std::vector<Block> blocks_;
};

}  // namespace ringweave::detail::inline distribute
