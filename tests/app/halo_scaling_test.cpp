// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/halo_scaling.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numbers>

#include "base/checked_cast.hpp"
#include "distribute/plan_cases.hpp"
#include "support/angles.hpp"

namespace ringweave::detail::test {
namespace {

DistributeRings distribution_of(const PlanCase& plan_case) {
  return [&](int n_ranks) { return plan_case.single_bands(n_ranks); };
}

TEST(HaloScaling, AddsUpThePlansOfAllRanks) {
  for (const PlanCase& plan_case : small_cases()) {
    const RingPayload payload = RingPayload::pixels(*plan_case.grid);
    for (const int n_ranks : {1, 2, 3, 8, 64}) {
      for (const double support : {0.0, 0.1, 1.0, 4.0}) {
        SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
        const RingDistribution rings = plan_case.rings(n_ranks);
        const HaloScaling scaling = halo_scaling(rings, support, payload);
        std::int64_t largest = 0;
        std::int64_t sum = 0;
        double largest_share = 0;
        int peers = 0;
        for (int rank = 0; rank < n_ranks; ++rank) {
          const HaloPlan plan = plan_halo(rings, rank, support, payload);
          largest = std::max(largest, plan.halo_size);
          sum += plan.halo_size;
          const std::int64_t all = plan.n_halo_rings() + plan.n_own_rings;
          if (all > 0) {
            largest_share = std::max(
                largest_share, static_cast<double>(plan.n_halo_rings()) / static_cast<double>(all));
          }
          int mine = 0;
          int last = -1;
          for (const HaloPlan::Message& message : plan.receives) {
            mine += message.peer != last ? 1 : 0;
            last = message.peer;
          }
          peers = std::max(peers, mine);
        }
        EXPECT_EQ(scaling.n_ranks, n_ranks);
        EXPECT_EQ(scaling.largest_values, largest);
        EXPECT_NEAR(
            scaling.mean_values * n_ranks / static_cast<double>(std::max<std::int64_t>(sum, 1)),
            sum > 0 ? 1 : 0, 1e-12);
        EXPECT_DOUBLE_EQ(scaling.largest_share, largest_share);
        EXPECT_LE(scaling.mean_share, scaling.largest_share);
        EXPECT_EQ(scaling.largest_peers, peers);
      }
    }
  }
}

TEST(HaloScaling, CountsTheProductsOfAConvolution) {
  const PlanCase plan_case("", RingGrid::gauss_legendre(24, 10), 23, 23, 0);
  const RingPayload payload = RingPayload::pixels(*plan_case.grid);
  const double all = 24 * 24 * 10;
  EXPECT_DOUBLE_EQ(halo_scaling(plan_case.rings(1), 4, payload).largest_products, all);
  const HaloScaling four = halo_scaling(plan_case.rings(4), 4, payload);
  EXPECT_DOUBLE_EQ(four.mean_products, all / 4);
  EXPECT_DOUBLE_EQ(four.balance(), 1);
  EXPECT_DOUBLE_EQ(halo_scaling(plan_case.rings(4), 0, payload).mean_products, 24 * 10 / 4.0);
}

TEST(HaloScaling, BandsCutByTheProductsShareThemEvenly) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(1024));
  const RingPayload payload = RingPayload::pixels(*grid);
  for (const double support : {0.1 * degree, 2 * degree, 60 * degree, 4.0}) {
    const std::vector<std::int64_t> products = ring_products(*grid, support, payload);
    for (const int n_ranks : {2, 3, 5, 8, 64}) {
      const HaloScaling scaling = halo_scaling({grid, products, n_ranks}, support, payload);
      EXPECT_GT(scaling.balance(), n_ranks > 8 ? 0.95 : 0.99) << support << " on " << n_ranks;
    }
  }
}

TEST(HaloScaling, TheLimitIsWhereBandsAreTwiceAsWideAsTheKernel) {
  const PlanCase plan_case("", RingGrid::healpix(512), 1024, 1024, 0);
  const RingPayload payload = RingPayload::pixels(*plan_case.grid);
  for (const double support : {0.5 * degree, 2 * degree, 6 * degree, 30 * degree}) {
    const int limit = ranks_at_band_limit(distribution_of(plan_case), support);
    EXPECT_TRUE(halo_scaling(plan_case.single_bands(limit), support, payload).within_band_limit());
    EXPECT_FALSE(
        halo_scaling(plan_case.single_bands(limit + 1), support, payload).within_band_limit());
    // 2 P bands; those of equal areas are narrowest next to the equator, about 1 / P wide.
    EXPECT_NEAR(limit, 1 / (2 * support), 0.15 / support + 1) << support;
  }
  EXPECT_EQ(ranks_at_band_limit(distribution_of(plan_case), 3), 1);
  EXPECT_EQ(ranks_at_band_limit(distribution_of(plan_case), 0), 1024);
  EXPECT_EQ(ranks_at_band_limit(distribution_of(plan_case), 0, 100), 100);
}

TEST(HaloScaling, RowsGoToTheLimitAndBeyond) {
  const PlanCase plan_case("", RingGrid::healpix(512), 1024, 1024, 0);
  const RingPayload payload = RingPayload::modes(*plan_case.grid);
  const double support = 2 * degree;
  const int limit = ranks_at_band_limit(distribution_of(plan_case), support);
  const std::vector<HaloScaling> rows =
      halo_scaling_to_limit(distribution_of(plan_case), support, payload, 2);
  ASSERT_GE(rows.size(), 4u);
  EXPECT_EQ(rows.front().n_ranks, 1);
  EXPECT_EQ(rows.front().largest_values, 0);
  EXPECT_EQ(rows[rows.size() - 3].n_ranks, limit);
  EXPECT_EQ(rows.back().n_ranks, 4 * limit);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GT(rows[i].mean_share, rows[i - 1].mean_share);
    EXPECT_EQ(rows[i].within_band_limit(), rows[i].n_ranks <= limit);
    // At most twice the kernel on both sides of both bands.
    if (rows[i].within_band_limit()) {
      EXPECT_LE(rows[i].largest_share, 0.51);
    }
  }
  const std::string table = halo_scaling_table(rows, 1, 16);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2 + ssize64(rows));
  EXPECT_THAT(table, testing::HasSubstr("\n" + std::string(5, ' ') + "1 "));
}

TEST(HaloScaling, TakesTheLargestGridsOn16384Ranks) {
  const PlanCase plan_case("", RingGrid::healpix(16384), 32768, 32768, 0);
  const HaloScaling scaling =
      halo_scaling(plan_case.single_bands(16384), 1 * degree, RingPayload::modes(*plan_case.grid));
  EXPECT_GT(scaling.largest_share, 0.99);
  EXPECT_GT(scaling.mean_values, 1e7);
  EXPECT_FALSE(scaling.within_band_limit());
}

TEST(HaloScaling, RefusesThePayloadOfAnotherGrid) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  EXPECT_THROW(halo_scaling(plan_case.rings(2), 0.1, RingPayload::pixels(RingGrid::healpix(4))),
               UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
