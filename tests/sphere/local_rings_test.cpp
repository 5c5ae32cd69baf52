// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/local_rings.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ringweave {
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
  EXPECT_EQ(rings.slabs()[0].count + rings.slabs()[1].count, next_pixel);
}

TEST(LocalRings, ABandAndItsMirrorAreTwoSlabs) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  const LocalRings rings(grid, {2, 5}, {10, 13});
  expect_consistent(rings);
  EXPECT_EQ(rings.n_rings(), 6);
  EXPECT_FALSE(rings.owns(RingId{1}));
  EXPECT_FALSE(rings.owns(RingId{5}));
  EXPECT_FALSE(rings.owns(RingId{13}));
}

TEST(LocalRings, OneRankOwnsTheWholeMapInItsOrder) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(3));
  const LocalRings rings(grid);
  expect_consistent(rings);
  EXPECT_EQ(rings.n_pixels(), grid->n_pixels());
  EXPECT_EQ(rings.slabs()[0].count, grid->n_pixels());
}

TEST(LocalRings, EitherSideMayBeEmpty) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::fejer(9));
  expect_consistent(LocalRings(grid, {}, {7, 9}));
  expect_consistent(LocalRings(grid, {4, 5}, {}));
  expect_consistent(LocalRings(grid, {}, {}));
  EXPECT_EQ(LocalRings(grid, {}, {}).n_pixels(), 0);
}

TEST(LocalRings, PixelNumbersPass32Bits) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(32768));
  const LocalRings rings(grid);
  EXPECT_EQ(rings.n_pixels(), std::int64_t{12} * 32768 * 32768);
  EXPECT_EQ(rings.first_pixel(LocalRing{rings.n_rings() - 1}), rings.n_pixels() - 4);
}

}  // namespace
}  // namespace ringweave
