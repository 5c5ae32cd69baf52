// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/pixel_pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/points/point_order.hpp"
#include "point_cases.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::test {
namespace {

TEST(PixelPieces, HaveEveryPixelOnceInShortRuns) {
  for (const char* name : {"healpix:32", "gauss:40,900", "clenshaw:9,1", "fejer:500,8"}) {
    SCOPED_TRACE(name);
    const RingGrid grid = RingGrid::from_name(name);
    for (const std::int64_t n_rows : {7, 130}) {
      const PixelPieces cut(grid, n_rows);
      std::vector<int> found(to_size(grid.n_pixels()), 0);
      std::int64_t next_ring = 0;
      for (std::int64_t b = 0; b < ssize64(cut.blocks()); ++b) {
        const PixelPieces::Block& block = cut.blocks()[to_size(b)];
        EXPECT_EQ(block.rings.begin, next_ring);
        next_ring = block.rings.end;
        if (b > 0) {
          EXPECT_GT(block.first_row, cut.blocks()[to_size(b - 1)].first_row);
        }
        for (std::int64_t r = block.rings.begin; r < block.rings.end; ++r) {
          const Ring& ring = grid.ring(RingId{r});
          const std::int64_t row = row_position(ring.theta, n_rows).index;
          EXPECT_EQ(row / PointOrder::tile_rows * PointOrder::tile_rows, block.first_row);
          EXPECT_EQ(cut.block_of(r), b);
          for (std::int64_t sector = 0; sector < block.n_sectors; ++sector) {
            const PixelPiece piece = cut.piece(block, sector, r);
            EXPECT_EQ(piece.ring, r);
            EXPECT_LE(piece.count, PixelPieces::most_pixels);
            for (std::int64_t i = 0; i < piece.count; ++i)
              ++found[to_size(ring.first_pixel + piece.first + i)];
          }
        }
      }
      EXPECT_EQ(next_ring, grid.n_rings());
      EXPECT_EQ(std::count(found.begin(), found.end(), 1), grid.n_pixels());
    }
  }
}

TEST(FineRows, BetweenFirstTapsAreThoseOfAllTheirTaps) {
  for (const int n_taps : {1, 4, 7}) {
    const FineRows rows = fine_rows(11, 16, n_taps);
    for (std::int64_t first = 0; first < rows.n_first_taps(); ++first) {
      RingRange expected{rows.n_rows(), 0};
      for (std::int64_t last = first; last < rows.n_first_taps(); ++last) {
        for (int i = 0; i < n_taps; ++i) {
          const std::int64_t row = rows.row(last, i);
          expected = {std::min(expected.begin, row), std::max(expected.end, row + 1)};
        }
        EXPECT_EQ(rows.rows_between(first, last), expected) << first << " " << last;
      }
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
