// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/ring_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "plan_cases.hpp"

namespace ringweave::detail::test {
namespace {

TEST(RingDistribution, CoversEveryRingOnceWithConsecutiveNorthAndSouthBands) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 3, 5, 7, 8, 13, 64, 500}) {
      SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
      const RingDistribution rings = plan_case.rings(n_ranks);
      std::vector<int> seen(to_size(plan_case.grid->n_rings()), 0);
      for (int rank = 0; rank < n_ranks; ++rank) {
        for (const RingRange& band : rings.bands(rank)) {
          for (std::int64_t r = band.begin; r < band.end; ++r) {
            ++seen[to_size(r)];
            EXPECT_EQ(rings.owner(RingId{r}), rank);
          }
        }
        EXPECT_EQ(rings.rings(rank).n_rings(), rings.n_rings(rank));
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST(RingDistribution, NeverSplitsAPair) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {2, 3, 8, 64}) {
      const RingDistribution rings = plan_case.rings(n_ranks);
      for (const RingPair& pair : plan_case.grid->pairs()) {
        if (pair.north == RingPair::none || pair.south == RingPair::none) continue;
        EXPECT_EQ(rings.owner(RingId{pair.north}), rings.owner(RingId{pair.south}))
            << plan_case.name;
      }
    }
  }
}

using Bands = std::vector<RingRange>;
Bands bands_of(const RingDistribution& rings, int rank) {
  return {rings.bands(rank).begin(), rings.bands(rank).end()};
}

TEST(RingDistribution, ListsAllBandsFromNorthToSouth) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 7, 64}) {
      const RingDistribution rings = plan_case.rings(n_ranks);
      std::vector<Bands> of_ranks(to_size(n_ranks));
      std::int64_t next = 0;
      for (const RingDistribution::OwnedBand& band : rings.bands()) {
        EXPECT_EQ(band.rings.begin, next);
        EXPECT_FALSE(band.rings.empty());
        next = band.rings.end;
        of_ranks[to_size(band.rank)].push_back(band.rings);
      }
      EXPECT_EQ(next, plan_case.grid->n_rings());
      for (int rank = 0; rank < n_ranks; ++rank)
        EXPECT_EQ(bands_of(rings, rank), of_ranks[to_size(rank)]) << plan_case.name;
    }
  }
}

TEST(RingDistribution, OneBandEachDescendsFromTheNorthAndSouthernOnesMirrorThem) {
  const PlanCase plan_case("", RingGrid::healpix(64), 128, 128, 0);
  const RingDistribution rings = plan_case.single_bands(7);
  const std::int64_t n_rings = plan_case.grid->n_rings();
  std::int64_t next = 0;
  for (int rank = 0; rank < 6; ++rank) {
    const Bands bands = bands_of(rings, rank);
    ASSERT_EQ(bands.size(), 2u);
    EXPECT_EQ(bands[0].begin, next);
    EXPECT_EQ(bands[1], (RingRange{n_rings - bands[0].end, n_rings - bands[0].begin}));
    next = bands[0].end;
  }
  EXPECT_EQ(bands_of(rings, 6), (Bands{{next, n_rings - next}}));
}

TEST(RingDistribution, RanksTakeTheCapAscendingAndTheBeltDescending) {
  const PlanCase plan_case("", RingGrid::healpix(64), 128, 128, 0);
  const RingDistribution rings = plan_case.rings(7);
  std::vector<int> of_north;
  for (const RingDistribution::OwnedBand& band : rings.bands())
    if (band.rings.begin < 128) of_north.push_back(band.rank);
  EXPECT_EQ(of_north, (std::vector{0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0}));
  const Bands equator = bands_of(rings, 0);
  ASSERT_EQ(equator.size(), 3u);
  EXPECT_TRUE(equator[1].contains(127));
  EXPECT_EQ(bands_of(rings, 3).size(), 4u);
  EXPECT_EQ(bands_of(rings, 6).size(), 2u);
}

TEST(RingDistribution, GridsOfOneKindOfRingsAreOneSection) {
  for (const RingGrid& grid :
       {RingGrid::gauss_legendre(65), RingGrid::clenshaw_curtis(65), RingGrid::fejer(64),
        RingGrid::healpix(64).subset(std::vector{RingId{90}, RingId{91}, RingId{92}})}) {
    const PlanCase plan_case("", grid, 32, 32, 0);
    for (const int n_ranks : {2, 3, 7}) {
      const RingDistribution rings = plan_case.rings(n_ranks);
      for (int rank = 0; rank < n_ranks; ++rank) EXPECT_LE(rings.bands(rank).size(), 2u);
    }
  }
}

/// Tells whether every rank has rings, or none has more than a pair.
bool leaves_nobody_out(const RingDistribution& rings) {
  std::int64_t least = rings.grid()->n_rings();
  std::int64_t most = 0;
  for (int rank = 0; rank < rings.n_ranks(); ++rank) {
    least = std::min(least, rings.n_rings(rank));
    most = std::max(most, rings.n_rings(rank));
  }
  return least > 0 || most <= 2;
}

TEST(RingDistribution, LeavesNobodyWithoutRingsWhileAnotherHasTwoPairs) {
  for (const PlanCase& plan_case : small_cases()) {
    const int n_pairs = static_cast<int>(plan_case.grid->n_pairs());
    for (int n_ranks = 1; n_ranks <= std::min(n_pairs + 3, 70); ++n_ranks) {
      EXPECT_TRUE(leaves_nobody_out(plan_case.rings(n_ranks))) << plan_case.name << " " << n_ranks;
      EXPECT_TRUE(leaves_nobody_out(plan_case.single_bands(n_ranks))) << plan_case.name;
    }
    EXPECT_TRUE(leaves_nobody_out(plan_case.rings(n_pairs))) << plan_case.name;
  }
}

TEST(RingDistribution, LeavesSurplusRanksWithoutRings) {
  const PlanCase plan_case("", RingGrid::healpix(1), 2, 2, 0);
  const RingDistribution rings = plan_case.rings(8);
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(rings.n_rings(rank) > 0, rank < 2);
    EXPECT_EQ(rings.rings(rank).n_pixels() > 0, rank < 2);
  }
}

/// Largest memory of a rank for one map and its ring modes over the mean.
double memory_imbalance(const PlanCase& plan_case, int n_ranks) {
  const RingDistribution rings = plan_case.rings(n_ranks);
  std::int64_t largest = 0;
  std::int64_t sum = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const LocalRings mine = rings.rings(rank);
    std::int64_t bytes = 8 * mine.n_pixels();
    for (std::int64_t r = 0; r < mine.n_rings(); ++r) {
      bytes += 16 * (std::int64_t{plan_case.limits.m_limit(mine.global(LocalRing{r}))} + 1);
    }
    largest = std::max(largest, bytes);
    sum += bytes;
  }
  return static_cast<double>(largest) * n_ranks / static_cast<double>(sum);
}

TEST(RingDistribution, BalancesTheMemoryOfHealpixWithinTenPercent) {
  const PlanCase plan_case("", RingGrid::healpix(2048), 4096, 4096, 0);
  const PlanCase high_orders("", RingGrid::healpix(2048), 6143, 6143, 0);
  for (const int n_ranks : {2, 3, 5, 7, 8, 13, 64}) {
    EXPECT_LE(memory_imbalance(plan_case, n_ranks), 1.1) << n_ranks;
    EXPECT_LE(memory_imbalance(high_orders, n_ranks), 1.1) << n_ranks;
  }
}

TEST(RingDistribution, BalancesTheRingFftOfHealpixToo) {
  // Measured nanoseconds per pixel in the caps and in the belt.
  const PlanCase plan_case("", RingGrid::healpix(2048), 4096, 4096, 0);
  for (const int n_ranks : {2, 3, 5, 7, 8, 13, 64}) {
    const RingDistribution rings = plan_case.rings(n_ranks);
    double largest = 0;
    double sum = 0;
    for (int rank = 0; rank < n_ranks; ++rank) {
      double seconds = 0;
      for (const RingRange& band : rings.bands(rank)) {
        for (std::int64_t r = band.begin; r < band.end; ++r) {
          const std::int64_t n_phi = plan_case.grid->ring(RingId{r}).n_phi;
          seconds += (n_phi < 8192 ? 4.4 : 1.7) * static_cast<double>(n_phi);
        }
      }
      largest = std::max(largest, seconds);
      sum += seconds;
    }
    EXPECT_LE(largest * n_ranks / sum, n_ranks > 13 ? 1.05 : 1.03) << n_ranks;
  }
}

TEST(RingDistribution, FindsTheLeastLargestBandThereIs) {
  // Equal rings: 11 pairs on 4 ranks allow no better than 3 pairs, and no rank may have fewer than
  // 2.
  const PlanCase plan_case("", RingGrid::gauss_legendre(22), 21, 21, 0);
  const RingDistribution rings = plan_case.rings(4);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_LE(rings.n_rings(rank), 6);
    EXPECT_GE(rings.n_rings(rank), 4);
  }
}

TEST(RingDistribution, BalancesAGivenCost) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(256));
  std::vector<std::int64_t> costs;
  for (const Ring& ring : grid->rings()) costs.push_back(ring.theta < 1 ? 0 : ring.n_phi);
  const std::int64_t all = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
  for (const int n_ranks : {1, 2, 3, 5, 8, 64}) {
    const RingDistribution rings(grid, costs, n_ranks);
    for (int rank = 0; rank < n_ranks; ++rank) {
      std::int64_t mine = 0;
      for (const RingRange& band : rings.bands(rank)) {
        for (std::int64_t r = band.begin; r < band.end; ++r) mine += costs[to_size(r)];
      }
      EXPECT_NEAR(static_cast<double>(mine), static_cast<double>(all / n_ranks), 2 * 1024);
    }
  }
}

TEST(RingDistribution, TakesRingsThatCostNothing) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  const std::vector<std::int64_t> free(15, 0);
  for (const int n_ranks : {1, 2, 8, 20}) {
    const RingDistribution rings(grid, free, n_ranks);
    std::int64_t owned = 0;
    for (int rank = 0; rank < n_ranks; ++rank) owned += rings.n_rings(rank);
    EXPECT_EQ(owned, 15);
  }
}

TEST(RingDistribution, RefusesWhatIsNoCost) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(1));
  using Costs = std::vector<std::int64_t>;
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_THROW(RingDistribution(grid, Costs{1, 2}, 2), UsageError);
  EXPECT_THROW(RingDistribution(grid, Costs{1, -1, 1}, 2), UsageError);
  EXPECT_THROW(RingDistribution(grid, Costs{large, large, 1}, 2), UsageError);
}

TEST(RingDistribution, CutsTheLargestGridFor16384Ranks) {
  const PlanCase plan_case("", RingGrid::healpix(32768), 65535, 65535, 0);
  const RingDistribution rings = plan_case.rings(16384);
  std::int64_t pixels = 0;
  for (int rank = 0; rank < rings.n_ranks(); ++rank) {
    ASSERT_GT(rings.n_rings(rank), 0);
    for (const RingRange& band : rings.bands(rank)) {
      for (std::int64_t r = band.begin; r < band.end; ++r)
        pixels += plan_case.grid->ring(RingId{r}).n_phi;
    }
  }
  EXPECT_EQ(pixels, 12 * std::int64_t{32768} * 32768);
}

}  // namespace
}  // namespace ringweave::detail::test
