// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <healpix_base.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing::ThrowsMessage;

void expect_ring_as_in_healpix(const RingGrid& grid, const T_Healpix_Base<int64>& reference,
                               std::int64_t ring_number) {
  const Ring& ring = grid.ring(RingId{ring_number - 1});
  int64 first_pixel = 0;
  int64 n_phi = 0;
  double cos_theta = 0;
  double sin_theta = 0;
  bool shifted = false;
  reference.get_ring_info(ring_number, first_pixel, n_phi, cos_theta, sin_theta, shifted);
  EXPECT_EQ(ring.first_pixel, first_pixel);
  EXPECT_EQ(ring.n_phi, n_phi);
  EXPECT_NEAR(ring.cos_theta, cos_theta, 2e-16);
  EXPECT_NEAR(ring.sin_theta, sin_theta, 4e-16 * sin_theta);
  for (const std::int64_t j : {std::int64_t{0}, ring.n_phi / 3, ring.n_phi - 1}) {
    const pointing direction = reference.pix2ang(ring.first_pixel + j);
    EXPECT_NEAR(ring.theta, direction.theta, 1e-15);
    EXPECT_NEAR(ring.phi0 + 2 * pi * static_cast<double>(j) / static_cast<double>(ring.n_phi),
                direction.phi, 2e-15);
  }
}

TEST(RingGrid, HealpixPixelsLieWhereHealpixPutsThem) {
  for (const std::int64_t nside : {1, 2, 3, 4, 7, 64}) {
    const RingGrid grid = RingGrid::healpix(nside);
    const T_Healpix_Base<int64> reference(nside, RING, SET_NSIDE);
    ASSERT_EQ(grid.n_rings(), 4 * nside - 1);
    EXPECT_EQ(grid.n_pixels(), 12 * nside * nside);
    for (std::int64_t number = 1; number < 4 * nside; ++number) {
      expect_ring_as_in_healpix(grid, reference, number);
    }
  }
}

TEST(RingGrid, HealpixGeometryHoldsUpToNside32768) {
  for (const std::int64_t nside : {8192, 16384, 32768}) {
    const RingGrid grid = RingGrid::healpix(nside);
    const T_Healpix_Base<int64> reference(nside, RING, SET_NSIDE);
    EXPECT_EQ(grid.n_pixels(), 12 * nside * nside);
    for (const std::int64_t number :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{100}, nside - 1, nside, nside + 1,
          2 * nside, 2 * nside + 1, 3 * nside, 3 * nside + 1, 4 * nside - 2, 4 * nside - 1}) {
      expect_ring_as_in_healpix(grid, reference, number);
    }
    const Ring& polar = grid.ring(RingId{0});
    EXPECT_NEAR(std::sin(polar.theta) / polar.sin_theta, 1, 4e-16);
    EXPECT_EQ(grid.ring_of_pixel(grid.n_pixels() - 1), RingId{grid.n_rings() - 1});
    EXPECT_EQ(grid.n_pairs(), 2 * nside);
  }
}

TEST(RingGrid, WeightsSumToTheSphere) {
  for (const char* name : {"healpix:1", "healpix:7", "healpix:1024", "gauss:0", "gauss:1023",
                           "clenshaw:2", "clenshaw:1025,7", "fejer:1", "fejer:1024"}) {
    const RingGrid grid = RingGrid::from_name(name);
    long double sum = 0;
    for (const Ring& ring : grid.rings()) {
      sum += static_cast<long double>(ring.weight) * static_cast<long double>(ring.n_phi);
    }
    EXPECT_NEAR(static_cast<double>(sum / (4 * std::numbers::pi_v<long double>)), 1, 1e-15) << name;
  }
}

TEST(RingGrid, EveryRingIsInOnePairAndPairsRunFromThePolesToTheEquator) {
  for (const char* name :
       {"healpix:1", "healpix:3", "healpix:64", "gauss:0", "gauss:10", "gauss:63", "clenshaw:2",
        "clenshaw:33", "clenshaw:64", "fejer:1", "fejer:32", "fejer:33"}) {
    const RingGrid grid = RingGrid::from_name(name);
    EXPECT_EQ(grid.n_pairs(), (grid.n_rings() + 1) / 2) << name;
    for (std::int64_t p = 0; p < grid.n_pairs(); ++p) {
      const RingPair& pair = grid.pairs()[static_cast<std::size_t>(p)];
      EXPECT_EQ(pair.north, p);
      const bool equator = 2 * p + 1 == grid.n_rings();
      EXPECT_EQ(pair.south, equator ? RingPair::none : grid.n_rings() - 1 - p) << name;
      EXPECT_EQ(pair.cos_theta, grid.ring(RingId{p}).cos_theta);
      EXPECT_EQ(pair.cos_theta == 0, equator) << name;
      if (p > 0) {
        EXPECT_LT(pair.cos_theta, grid.pairs()[static_cast<std::size_t>(p) - 1].cos_theta);
      }
    }
  }
}

TEST(RingGrid, RingsWithoutAMirrorArePairsOfOne) {
  const RingGrid grid = RingGrid::from_rings({{2.9, 0, 8, 0},
                                              {0.5, 0.1, 4, 0},
                                              {pi - 0.5, 0, 6, 0},
                                              {1.0, 0, 5, 0},
                                              {pi / 2, 0, 7, 0},
                                              {0.0, 0, 1, 0}});
  ASSERT_EQ(grid.n_pairs(), 5);
  const auto pairs = grid.pairs();
  EXPECT_EQ(pairs[0].north, 0);
  EXPECT_EQ(pairs[0].south, RingPair::none);
  EXPECT_EQ(pairs[0].sin_theta, 0);
  EXPECT_EQ(pairs[1].north, RingPair::none);
  EXPECT_EQ(pairs[1].south, 5);
  EXPECT_NEAR(pairs[1].cos_theta, -std::cos(2.9), 1e-16);
  EXPECT_EQ(pairs[2].north, 1);
  EXPECT_EQ(pairs[2].south, 4);
  EXPECT_EQ(pairs[3].north, 2);
  EXPECT_EQ(pairs[3].south, RingPair::none);
  EXPECT_EQ(pairs[4].north, 3);
  EXPECT_EQ(pairs[4].south, RingPair::none);
  EXPECT_EQ(pairs[4].cos_theta, 0);
}

TEST(RingGrid, ALoneSouthernRingHasNoNorth) {
  const RingGrid grid = RingGrid::from_rings({{3.0, 0, 4, 1}});
  ASSERT_EQ(grid.n_pairs(), 1);
  EXPECT_EQ(grid.pairs()[0].north, RingPair::none);
  EXPECT_EQ(grid.pairs()[0].south, 0);
  EXPECT_GT(grid.pairs()[0].cos_theta, 0);
}

TEST(RingGrid, AUserGridWithPolesRoundedAsAngleArraysAreIsPaired) {
  std::vector<RingSpec> specs;
  for (int i = 0; i < 1001; ++i) specs.push_back({i * (pi / 1000), 0, 4, 0});
  specs.back().theta = pi;
  const RingGrid grid = RingGrid::from_rings(specs);
  EXPECT_EQ(grid.n_pairs(), 501);
  EXPECT_EQ(grid.ring(RingId{1000}).sin_theta, 0);
  EXPECT_EQ(grid.pairs()[500].cos_theta, 0);
}

TEST(RingGrid, ConsecutivePairsAreConsecutiveRingsOnBothSides) {
  std::vector<RingId> kept;
  const RingGrid full = RingGrid::healpix(16);
  for (std::int64_t r = 0; r < full.n_rings(); ++r) {
    if (r % 3 != 1 && r != 31) kept.push_back(RingId{r});
  }
  const RingGrid grid = full.subset(kept);
  std::int64_t next_north = 0;
  std::int64_t next_south = grid.n_rings() - 1;
  for (const RingPair& pair : grid.pairs()) {
    if (pair.north != RingPair::none) {
      EXPECT_EQ(pair.north, next_north++);
    }
    if (pair.south != RingPair::none) {
      EXPECT_EQ(pair.south, next_south--);
    }
  }
  EXPECT_EQ(next_north, next_south + 1);
}

TEST(RingGrid, ASubsetRemembersWhereItsRingsWere) {
  const RingGrid full = RingGrid::healpix(4);
  const std::vector<RingId> kept{RingId{0}, RingId{5}, RingId{14}};
  const RingGrid part = full.subset(kept);
  EXPECT_EQ(part.kind(), GridKind::healpix);
  EXPECT_EQ(part.nside(), 4);
  EXPECT_TRUE(part.is_subset());
  EXPECT_FALSE(full.is_subset());
  EXPECT_EQ(part.n_rings(), 3);
  EXPECT_EQ(part.n_pixels(), 4 + 16 + 4);
  EXPECT_EQ(part.n_source_pixels(), full.n_pixels());
  EXPECT_EQ(part.default_lmax(), full.default_lmax());
  EXPECT_EQ(part.ring(RingId{1}).first_pixel, 4);
  EXPECT_EQ(part.ring(RingId{1}).source_pixel, full.ring(RingId{5}).first_pixel);
  EXPECT_EQ(part.ring(RingId{2}).weight, full.ring(RingId{14}).weight);
  EXPECT_EQ(part.n_pairs(), 2);
  EXPECT_EQ(part.subset(std::vector<RingId>{RingId{2}}).ring(RingId{0}).source_pixel,
            full.ring(RingId{14}).first_pixel);

  EXPECT_THROW(full.subset({}), UsageError);
  EXPECT_THROW(full.subset(std::vector<RingId>{RingId{3}, RingId{3}}), UsageError);
  EXPECT_THROW(full.subset(std::vector<RingId>{RingId{15}}), UsageError);
}

TEST(RingGrid, NamesLeadToTheGridThatHasThem) {
  for (const char* name : {"healpix:6", "gauss:20", "gauss:20,41", "clenshaw:9", "clenshaw:9,3",
                           "fejer:12", "fejer:12,100", "fejer:12,24,7.5", "gauss:20,42,-0.25"}) {
    EXPECT_EQ(RingGrid::from_name(name).name(), name);
  }
  EXPECT_DOUBLE_EQ(RingGrid::from_name("clenshaw:9,20,4.5").ring(RingId{3}).phi0,
                   std::numbers::pi / 40);
  const RingGrid gauss = RingGrid::from_name("gauss:767");
  EXPECT_EQ(gauss.n_rings(), 768);
  EXPECT_EQ(gauss.ring(RingId{0}).n_phi, 1536);
  EXPECT_EQ(RingGrid::from_name("clenshaw:1025").ring(RingId{0}).n_phi, 2058);
  EXPECT_EQ(RingGrid::from_name("healpix:512").default_lmax(), 1535);
  EXPECT_EQ(gauss.default_lmax(), 767);
  EXPECT_EQ(RingGrid::from_name("gauss:767,1000").default_lmax(), 499);
  EXPECT_EQ(RingGrid::from_name("clenshaw:1025").default_lmax(), 512);
  EXPECT_EQ(RingGrid::from_name("fejer:1024").default_lmax(), 511);
}

TEST(RingGrid, BadNamesAreRefusedWithTheReason) {
  for (const char* name : {"healpix",
                           "healpix:",
                           "healpix:0",
                           "healpix:-4",
                           "healpix:4x",
                           "healpix:4,8",
                           "gauss:-1",
                           "clenshaw:1",
                           "fejer:0",
                           "fejer:8,0",
                           "fejer:8,16,",
                           "fejer:8,16,east",
                           "fejer:8,16,400",
                           "fejer:8,16,nan",
                           "gauss:99999999999999999999",
                           "gauss:9223372036854775807",
                           "fejer:4000000000",
                           "mollweide:4",
                           "",
                           ":4"}) {
    EXPECT_THROW(RingGrid::from_name(name), UsageError) << name;
  }
  EXPECT_THAT([] { RingGrid::from_name("healpxi:4"); },
              ThrowsMessage<UsageError>(HasSubstr("there is no kind 'healpxi'")));
}

TEST(RingGrid, LargeGridsAreRefusedBeforeAnythingIsComputed) {
  EXPECT_EQ(RingGrid::healpix(RingGrid::most_nside).n_rings(), 4 * RingGrid::most_nside - 1);
  for (const char* name : {"healpix:131073", "healpix:20000000", "gauss:1048577", "gauss:10000000",
                           "clenshaw:10000000", "fejer:10000000", "healpix:536870912"}) {
    EXPECT_THROW(RingGrid::from_name(name), UsageError) << name;
  }
  EXPECT_THAT([] { RingGrid::healpix(20000000); },
              ThrowsMessage<UsageError>(HasSubstr("nside = 20000000; expected 1 to 131072")));
  EXPECT_THAT(
      [] { RingGrid::from_name("gauss:10000000"); },
      ThrowsMessage<UsageError>(HasSubstr("'10000000' is not a whole number up to 1048576")));
  EXPECT_THROW(RingGrid::fejer(RingGrid::most_rings + 1), UsageError);
}

TEST(RingGrid, BadUserRingsAreRefusedByNumber) {
  const double nan = std::nan("");
  EXPECT_THROW(RingGrid::from_rings({}), UsageError);
  EXPECT_THAT(
      [] {
        RingGrid::from_rings({{1, 0, 4, 0}, {3.15, 0, 4, 0}});
      },
      ThrowsMessage<UsageError>(HasSubstr("ring 1: theta = 3.15")));
  EXPECT_THROW(RingGrid::from_rings({{-0.1, 0, 4, 0}}), UsageError);
  EXPECT_THROW(RingGrid::from_rings({{1, 0, 0, 0}}), UsageError);
  EXPECT_THROW(RingGrid::from_rings({{nan, 0, 4, 0}}), UsageError);
  EXPECT_THROW(RingGrid::from_rings({{1, nan, 4, 0}}), UsageError);
  EXPECT_THROW(RingGrid::from_rings({{1, 0, 4, nan}}), UsageError);
  EXPECT_THROW(RingGrid::from_rings({{1, 0, 4, 0}, {1, 0, 5, 0}}), UsageError);
}

TEST(RingGrid, PixelsFindTheirRing) {
  for (const char* name : {"healpix:5", "gauss:7"}) {
    const RingGrid grid = RingGrid::from_name(name);
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
      const Ring& ring = grid.ring(RingId{r});
      EXPECT_EQ(grid.ring_of_pixel(ring.first_pixel), RingId{r});
      EXPECT_EQ(grid.ring_of_pixel(ring.first_pixel + ring.n_phi - 1), RingId{r});
    }
    EXPECT_THROW(grid.ring_of_pixel(-1), UsageError);
    EXPECT_THROW(grid.ring_of_pixel(grid.n_pixels()), UsageError);
  }
}

}  // namespace
}  // namespace ringweave::detail
