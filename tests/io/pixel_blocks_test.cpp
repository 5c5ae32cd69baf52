// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/pixel_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "io_support.hpp"

namespace ringweave::detail {
namespace {

std::shared_ptr<const RingGrid> healpix(std::int64_t nside) {
  return std::make_shared<const RingGrid>(RingGrid::healpix(nside));
}

/// Rings 2..5 and 9..12 of nside 4, as owned by one of several ranks.
LocalRings two_bands() { return {healpix(4), {{2, 6}, {9, 13}}}; }
LocalRings four_bands() { return {healpix(4), {{1, 2}, {4, 6}, {9, 11}, {13, 14}}}; }
LocalRings of_subset() {
  const std::vector<RingId> kept{RingId{1}, RingId{2}, RingId{7}, RingId{11}, RingId{14}};
  return {std::make_shared<const RingGrid>(RingGrid::healpix(4).subset(kept)), {{0, 2}, {3, 5}}};
}

/// Moves a file whose row r holds r through blocks of `block` rows, both ways.
void expect_blocks_carry(const LocalRings& rings, Ordering ordering, std::int64_t block) {
  PixelBlocks blocks(rings, ordering);
  ASSERT_EQ(blocks.n_rows(), 192);
  std::vector<double> map(to_size(rings.n_pixels()), -1);
  std::vector<double> sent(192, -1);
  std::vector<double> hidden(192, 0);
  std::vector<double> file(192);
  std::iota(file.begin(), file.end(), 0.0);
  for (std::int64_t first = 0; first < 192; first += block) {
    const std::int64_t count = std::min(block, 192 - first);
    blocks.select(first, count);
    blocks.take(std::span<const double>(file).subspan(to_size(first), to_size(count)), map.data());
    blocks.give(std::span(sent).subspan(to_size(first), to_size(count)), map.data());
    blocks.mask_unowned(std::span(hidden).subspan(to_size(first), to_size(count)));
  }
  const std::vector<std::int64_t> pixels = test::source_pixels(rings);
  std::int64_t given = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_EQ(map[i], static_cast<double>(blocks.order().from_ring(pixels[i])));
    EXPECT_EQ(blocks.local_pixel(pixels[i]), static_cast<std::int64_t>(i));
  }
  for (std::size_t row = 0; row < sent.size(); ++row) {
    EXPECT_EQ(hidden[row], sent[row] < 0 ? unseen : 0);
    if (sent[row] < 0) continue;
    EXPECT_EQ(sent[row], file[row]);
    ++given;
  }
  EXPECT_EQ(given, rings.n_pixels());
}

TEST(PixelBlocks, CarryRowsThereAndBack) {
  for (const std::int64_t block : {1, 7, 64, 192}) {
    for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
      expect_blocks_carry(two_bands(), ordering, block);
      expect_blocks_carry(four_bands(), ordering, block);
      expect_blocks_carry(of_subset(), ordering, block);
      expect_blocks_carry(LocalRings(healpix(4)), ordering, block);
    }
  }
}

TEST(PixelBlocks, NeighbouringRingsAreOneRun) {
  EXPECT_EQ(PixelBlocks(two_bands(), Ordering::ring).owned().size(), 2u);
  EXPECT_EQ(PixelBlocks(four_bands(), Ordering::ring).owned().size(), 4u);
  EXPECT_EQ(PixelBlocks(LocalRings(healpix(4)), Ordering::ring).owned().size(), 1u);
}

TEST(PixelBlocks, ARankWithoutRingsOwnsNothing) {
  const LocalRings none(healpix(4), {});
  expect_blocks_carry(none, Ordering::nested, 50);
  EXPECT_EQ(PixelBlocks(none, Ordering::ring).local_pixel(0), -1);
}

TEST(PixelOrder, HoldsBeyondThirtyTwoBits) {
  const std::int64_t nside = 32768;
  const PixelOrder order(RingGrid::healpix(nside), Ordering::nested);
  for (const std::int64_t pixel :
       {std::int64_t{0}, std::int64_t{5'000'000'000}, 12 * nside * nside - 1}) {
    EXPECT_EQ(order.to_ring(order.from_ring(pixel)), pixel);
  }
}

TEST(PixelOrder, NestedNeedsAHealpixGridOfAPowerOfTwo) {
  test::expect_error(ErrorKind::usage, "power of two",
                     [] { PixelOrder(RingGrid::healpix(12), Ordering::nested); });
  test::expect_error(ErrorKind::usage, "power of two",
                     [] { PixelOrder(RingGrid::gauss_legendre(8), Ordering::nested); });
  EXPECT_NO_THROW(PixelOrder(RingGrid::gauss_legendre(8), Ordering::ring));
}

}  // namespace
}  // namespace ringweave::detail
