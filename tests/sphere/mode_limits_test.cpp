// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/mode_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace ringweave::detail {
namespace {

/// Returns |lambda_lm(theta)| of spin s, |s| <= m, by the three-term recurrence, with the scale
/// kept as a separate logarithm.
double lambda(int l, int m, int s, double cos_theta, double sin_theta) {
  const double n = m;
  const double spin = s;
  // 1 - z for s > 0, 1 + z for s < 0.
  const double side = s * cos_theta < 0 ? 1 + std::abs(cos_theta)
                                        : sin_theta * sin_theta / (1 + std::abs(cos_theta));
  double scale = 0.5 * (std::log((2 * n + 1) / (4 * std::numbers::pi)) + std::lgamma(2 * n + 1) -
                        std::lgamma(n + spin + 1) - std::lgamma(n - spin + 1)) -
                 n * std::log(2.0) + (n - std::abs(spin)) * std::log(sin_theta) +
                 std::abs(spin) * std::log(side);
  const auto e = [&](double k) {
    return std::sqrt((k - n) * (k + n) * ((k - spin) * (k + spin)) / (k * k * (4 * k * k - 1)));
  };
  double before = 0;
  double value = 1;
  for (double k = n; k < l; ++k) {
    const double z = cos_theta + n * spin / (k * (k + 1));
    const double next = (z * value - e(k) * before) / e(k + 1);
    before = value;
    value = next;
    if (std::abs(value) > 1e100) {
      before *= 1e-100;
      value *= 1e-100;
      scale += 100 * std::log(10.0);
    }
  }
  return std::abs(value) * std::exp(scale);
}

/// Returns the largest |lambda_lm| of spins +-s among the first terms a limit drops, on both
/// hemispheres.
double largest_dropped(int lmax, int spin, const Ring& ring, int limit) {
  double largest = 0;
  for (const int s : {spin, -spin}) {
    const int m = limit + 1;
    if (m <= lmax) largest = std::max(largest, lambda(lmax, m, s, ring.cos_theta, ring.sin_theta));
  }
  return largest;
}

TEST(ModeLimits, LargerSpinsKeepTheModesOfSmallerOnes) {
  for (const int lmax : {20, 64, 100, 500}) {
    const RingGrid grid = RingGrid::fejer(2 * lmax);
    for (const int spin : {0, 1, 2, 3, lmax / 4}) {
      const ModeLimits limits(grid, lmax, lmax, spin);
      for (const int larger : {spin + 1, spin + 2, lmax / 2, lmax, 2 * lmax}) {
        if (larger < spin) continue;
        const ModeLimits of_larger(grid, lmax, lmax, larger);
        for (std::int64_t ring = 0; ring < grid.n_rings(); ++ring) {
          ASSERT_GE(of_larger.m_limit(RingId{ring}), limits.m_limit(RingId{ring}))
              << "lmax " << lmax << ", spins " << spin << ", " << larger << ", ring " << ring;
        }
      }
    }
  }
}

TEST(ModeLimits, WhatIsDroppedIsBelowRounding) {
  for (const int lmax : {64, 128, 256, 500, 1024, 2048, 4096, 8192, 10000, 20000, 32768}) {
    for (const int n_rings : {40, 4000}) {
      const RingGrid grid = RingGrid::fejer(n_rings);
      for (const int spin : {0, 1, 2, 3}) {
        const ModeLimits limits(grid, lmax, lmax, spin);
        // All of the coarse rings; only those next to a pole of the fine ones.
        for (std::int64_t r = 0; r < 20; ++r) {
          const double dropped =
              largest_dropped(lmax, spin, grid.ring(RingId{r}), limits.m_limit(RingId{r}));
          EXPECT_LT(dropped, 1e-15) << "lmax " << lmax << " spin " << spin << " ring " << r
                                    << " of " << n_rings << " m " << limits.m_limit(RingId{r}) + 1;
        }
      }
    }
  }
}

struct Case {
  std::string grid;
  int lmax;
  int mmax;
  int spin;
};

class ModeLimitsOf : public testing::TestWithParam<Case> {};

TEST_P(ModeLimitsOf, KeptRingsAreExactlyThoseWhoseLimitReachesTheOrder) {
  const Case& c = GetParam();
  const RingGrid grid = RingGrid::from_name(c.grid);
  const ModeLimits limits(grid, c.lmax, c.mmax, c.spin);
  ASSERT_EQ(limits.n_rings(), grid.n_rings());
  const int stride = std::max(1, c.mmax / 300);
  for (int m = 0; m <= c.mmax; m += stride) {
    const RingRange kept = limits.kept(m);
    std::int64_t count = 0;
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
      const bool reaches = limits.m_limit(RingId{r}) >= m;
      EXPECT_EQ(kept.contains(r), reaches) << "m " << m << " ring " << r;
      count += reaches ? 1 : 0;
    }
    EXPECT_EQ(kept.size(), count);
  }
}

TEST_P(ModeLimitsOf, NothingIsCutThatTheRuleKeeps) {
  const Case& c = GetParam();
  const RingGrid grid = RingGrid::from_name(c.grid);
  const ModeLimits limits(grid, c.lmax, c.mmax, c.spin);
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
    const Ring& ring = grid.ring(RingId{r});
    const double turning = c.lmax * ring.sin_theta;
    const double t = turning + 8 + 11 * std::cbrt(turning * ring.cos_theta * ring.cos_theta);
    const int next = limits.m_limit(RingId{r}) + 1;
    EXPECT_LE(limits.m_limit(RingId{r}), c.mmax);
    if (next > c.mmax) continue;
    const double m = next;
    const double s = c.spin;
    EXPECT_GT(m * m - 2 * m * s * std::abs(ring.cos_theta) + s * s, t * t - m);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Grids, ModeLimitsOf,
    testing::Values(Case{"healpix:64", 191, 191, 0}, Case{"healpix:64", 128, 100, 2},
                    Case{"healpix:512", 1535, 1535, 0}, Case{"healpix:512", 1024, 1024, 3},
                    Case{"clenshaw:1025", 1000, 1000, 2}, Case{"clenshaw:2", 1000, 1000, 0},
                    Case{"gauss:700", 700, 700, 1}, Case{"fejer:1", 400, 400, 0},
                    Case{"healpix:1", 0, 0, 0}, Case{"healpix:1", 300, 300, 2}));

TEST(ModeLimits, SmallTransformsKeepEverything) {
  const RingGrid grid = RingGrid::clenshaw_curtis(65);
  const ModeLimits limits(grid, 8, 8, 2);
  for (int m = 0; m <= 8; ++m) EXPECT_EQ(limits.kept(m), (RingRange{0, 65}));
}

TEST(ModeLimits, OrdersThatNoRingKeepsHaveAnEmptyRange) {
  const RingGrid pole = RingGrid::from_rings({{0.0, 0, 8, 0}});
  const ModeLimits limits(pole, 5000, 5000, 0);
  EXPECT_EQ(limits.m_limit(RingId{0}), 8);
  EXPECT_FALSE(limits.kept(8).empty());
  EXPECT_TRUE(limits.kept(9).empty());
  EXPECT_TRUE(limits.kept(5000).empty());
}

TEST(ModeLimits, GapsInACutSkyDoNotBreakTheRuns) {
  const RingGrid full = RingGrid::healpix(256);
  std::vector<RingId> kept;
  for (std::int64_t r = 0; r < full.n_rings(); ++r) {
    if (r < 40 || r > 900) kept.push_back(RingId{r});
  }
  const RingGrid grid = full.subset(kept);
  const ModeLimits limits(grid, 767, 767, 2);
  for (int m = 0; m <= 767; ++m) {
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
      ASSERT_EQ(limits.kept(m).contains(r), limits.m_limit(RingId{r}) >= m);
    }
  }
}

TEST(ModeLimits, FineRowsKeepTheOrdersOfRowsNearerToTheEquator) {
  const RingGrid rows = RingGrid::fejer(900);
  const ModeLimits plain(rows, 511, 500, 2);
  const ModeLimits limits = ModeLimits::of_fine_rows(rows, 900, 511, 500, 2);
  for (std::int64_t r = 0; r < 450; ++r) {
    const int nearer = plain.m_limit(RingId{std::min<std::int64_t>(r + 4, 449)});
    EXPECT_NEAR(limits.m_limit(RingId{r}), nearer, 1) << r;
    EXPECT_EQ(limits.m_limit(RingId{899 - r}), limits.m_limit(RingId{r})) << r;
  }
}

TEST(ModeLimits, PruningKeepsTwoThirdsOfTheModesOfALargeTransform) {
  const RingGrid grid = RingGrid::healpix(16384);
  const int lmax = 32768;
  const ModeLimits limits(grid, lmax, lmax, 0);
  std::int64_t kept = 0;
  for (int m = 0; m <= lmax; ++m) kept += limits.kept(m).size();
  std::int64_t by_ring = 0;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) by_ring += limits.m_limit(RingId{r}) + 1;
  EXPECT_EQ(kept, by_ring);
  const double dense = static_cast<double>(grid.n_rings()) * (lmax + 1);
  EXPECT_NEAR(static_cast<double>(kept) / dense, 0.67, 0.01);
}

TEST(FoldRule, TheEquatorialBeltOfHealpixFoldsAboveItsNyquistOrder) {
  const RingGrid grid = RingGrid::healpix(16);
  EXPECT_FALSE(FoldRule::for_grid(grid, 32).active());
  const FoldRule rule = FoldRule::for_grid(grid, 33);
  EXPECT_EQ(rule.period, 64);
  EXPECT_EQ(rule.rings, (RingRange{15, 48}));
  for (std::int64_t r = rule.rings.begin; r < rule.rings.end; ++r)
    EXPECT_EQ(grid.ring(RingId{r}).n_phi, 64);
}

TEST(FoldRule, EveryOrderIsAnAliasOfItsLowestRepresentative) {
  for (const std::int64_t period : {1, 2, 3, 8, 9, 64}) {
    const FoldRule rule{period, {0, 1}};
    for (int m = 0; m < 300; ++m) {
      const FoldRule::Alias alias = rule.alias(m);
      EXPECT_GE(alias.m0, 0);
      EXPECT_LE(2 * alias.m0, period);
      EXPECT_EQ(alias.turns * period + (alias.mirrored ? -alias.m0 : alias.m0), m);
      if (2 * m <= period) {
        EXPECT_TRUE(alias.m0 == m && alias.turns == 0 && !alias.mirrored);
      }
    }
  }
}

TEST(FoldRule, GridsOfEqualRingsFoldEverywhereAndOddLengthsToo) {
  const RingGrid grid = RingGrid::gauss_legendre(11, 9);
  EXPECT_FALSE(FoldRule::for_grid(grid, 4).active());
  const FoldRule rule = FoldRule::for_grid(grid, 10);
  EXPECT_EQ(rule.period, 9);
  EXPECT_EQ(rule.rings, (RingRange{0, 11}));
}

}  // namespace
}  // namespace ringweave::detail
