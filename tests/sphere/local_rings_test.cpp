// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <memory>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

void expect_consistent(const LocalRings& rings) {
  std::int64_t next_pixel = 0;
  for (std::int64_t i = 0; i < rings.n_rings(); ++i) {
    const RingId global = rings.global(LocalRing{i});
    EXPECT_TRUE(rings.owns(global));
    EXPECT_EQ(rings.local(global), LocalRing{i});
    EXPECT_EQ(&rings.ring(LocalRing{i}), &rings.grid().ring(global));
    EXPECT_EQ(rings.first_pixel(LocalRing{i}), next_pixel);
    bool in_a_slab = false;
    for (const PixelSlab& slab : rings.slabs()) {
      const std::int64_t within = next_pixel - slab.first_local;
      if (within < 0 || within >= slab.count) continue;
      in_a_slab = true;
      EXPECT_EQ(slab.first_global + within, rings.ring(LocalRing{i}).first_pixel);
    }
    EXPECT_TRUE(in_a_slab);
    next_pixel += rings.ring(LocalRing{i}).n_phi;
  }
  EXPECT_EQ(rings.n_pixels(), next_pixel);
  std::int64_t in_slabs = 0;
  for (const PixelSlab& slab : rings.slabs()) in_slabs += slab.count;
  EXPECT_EQ(in_slabs, next_pixel);
  std::int64_t next_ring = 0;
  std::int64_t last = -1;
  for (const RingBand& band : rings.bands()) {
    EXPECT_FALSE(band.rings.empty());
    EXPECT_GT(band.rings.begin, last) << "bands that touch are one";
    EXPECT_EQ(band.first, LocalRing{next_ring});
    EXPECT_EQ(band.local(band.rings.end - 1), rings.local(RingId{band.rings.end - 1}));
    next_ring += band.rings.size();
    last = band.rings.end;
  }
  EXPECT_EQ(rings.n_rings(), next_ring);
}

TEST(LocalRings, ABandAndItsMirrorAreTwoSlabs) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  const LocalRings rings(grid, {{2, 5}, {10, 13}});
  expect_consistent(rings);
  EXPECT_EQ(rings.n_rings(), 6);
  EXPECT_EQ(rings.slabs().size(), 2u);
  EXPECT_FALSE(rings.owns(RingId{1}));
  EXPECT_FALSE(rings.owns(RingId{5}));
  EXPECT_FALSE(rings.owns(RingId{13}));
}

TEST(LocalRings, AreAnyBandsFromNorthToSouth) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(8));
  const LocalRings four(grid, {{1, 3}, {9, 12}, {19, 22}, {28, 30}});
  expect_consistent(four);
  EXPECT_EQ(four.slabs().size(), 4u);
  EXPECT_FALSE(four.owns(RingId{5}));
  EXPECT_FALSE(four.owns(RingId{15}));
  EXPECT_THROW(LocalRings(grid, {{9, 12}, {1, 3}}), UsageError);
  EXPECT_THROW(LocalRings(grid, {{1, 3}, {2, 5}}), UsageError);
  EXPECT_THROW(LocalRings(grid, {{1, 3}, {28, 32}}), UsageError);
}

TEST(LocalRings, BandsThatTouchAreOne) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  const LocalRings rings(grid, {{0, 2}, {5, 5}, {6, 8}, {8, 9}, {13, 15}});
  expect_consistent(rings);
  EXPECT_EQ(rings.bands().size(), 3u);
}

TEST(LocalRings, WithinARangeAreTheOwnedRingsThere) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(8));
  const LocalRings rings(grid, {{1, 3}, {9, 12}, {19, 22}});
  const LocalRings some = rings.within({2, 21});
  expect_consistent(some);
  for (std::int64_t r = 0; r < grid->n_rings(); ++r)
    EXPECT_EQ(some.owns(RingId{r}), rings.owns(RingId{r}) && r >= 2 && r < 21);
  EXPECT_EQ(rings.within({3, 9}).n_rings(), 0);
}

TEST(LocalRings, OneRankOwnsTheWholeMapInItsOrder) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(3));
  const LocalRings rings(grid);
  expect_consistent(rings);
  EXPECT_EQ(rings.n_pixels(), grid->n_pixels());
  ASSERT_EQ(rings.slabs().size(), 1u);
  EXPECT_EQ(rings.slabs()[0].count, grid->n_pixels());
}

TEST(LocalRings, EitherSideMayBeEmpty) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::fejer(9));
  expect_consistent(LocalRings(grid, {{7, 9}}));
  expect_consistent(LocalRings(grid, {{4, 5}, {}}));
  expect_consistent(LocalRings(grid, {}));
  EXPECT_EQ(LocalRings(grid, {}).n_pixels(), 0);
}

TEST(LocalRings, PixelNumbersPass32Bits) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(32768));
  const LocalRings rings(grid);
  EXPECT_EQ(rings.n_pixels(), std::int64_t{12} * 32768 * 32768);
  EXPECT_EQ(rings.first_pixel(LocalRing{rings.n_rings() - 1}), rings.n_pixels() - 4);
}

}  // namespace
}  // namespace ringweave::detail
