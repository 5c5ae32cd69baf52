// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/order_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "plan_cases.hpp"

namespace ringweave::detail::test {
namespace {

/// Largest work of a rank over the mean.
double imbalance(const OrderDistribution& orders, const ModeLimits& limits) {
  double largest = 0;
  double sum = 0;
  for (int rank = 0; rank < orders.n_ranks(); ++rank) {
    double load = 0;
    for (const int m : orders.orders(rank)) load += OrderDistribution::work(limits, m);
    largest = std::max(largest, load);
    sum += load;
  }
  return largest * orders.n_ranks() / sum;
}

TEST(OrderDistribution, GivesEveryOrderToExactlyOneRankAscending) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 3, 5, 7, 8, 13, 64}) {
      SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
      const OrderDistribution orders = plan_case.orders(n_ranks);
      std::vector<int> seen(to_size(plan_case.limits.mmax() + 1), 0);
      for (int rank = 0; rank < n_ranks; ++rank) {
        const auto mine = orders.orders(rank);
        EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
        for (const int m : mine) {
          EXPECT_EQ(orders.owner(m), rank);
          ++seen[to_size(m)];
        }
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
    }
  }
}

TEST(OrderDistribution, KeepsAliasesTogetherOnEveryRankCount) {
  for (const PlanCase& plan_case : small_cases()) {
    if (!plan_case.fold.active()) continue;
    for (const int n_ranks : {1, 2, 3, 5, 7, 8, 13, 64}) {
      SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
      const OrderDistribution orders = plan_case.orders(n_ranks);
      for (int m = 0; m <= plan_case.limits.mmax(); ++m) {
        EXPECT_EQ(orders.owner(m), orders.owner(plan_case.fold.alias(m).m0)) << "order " << m;
      }
    }
  }
}

TEST(OrderDistribution, BalancesPrunedWorkWithinTwoPercentUpTo64Ranks) {
  const PlanCase unfolded("", RingGrid::healpix(1024), 2048, 2048, 2);
  const PlanCase folded("", RingGrid::healpix(1024), 3071, 3071, 0);
  for (const int n_ranks : {2, 3, 5, 7, 8, 13, 64}) {
    EXPECT_LE(imbalance(unfolded.orders(n_ranks), unfolded.limits), 1.02) << n_ranks;
    EXPECT_LE(imbalance(folded.orders(n_ranks), folded.limits), 1.02) << n_ranks;
  }
}

TEST(OrderDistribution, SplitsMirrorPairsWhereFewerThanThreeFallOnARank) {
  // Three pairs for two ranks: kept together they would load one rank with two thirds.
  const PlanCase plan_case("", RingGrid::gauss_legendre(8), 5, 5, 0);
  EXPECT_LE(imbalance(plan_case.orders(2), plan_case.limits), 1.1);
}

TEST(OrderDistribution, IsBalancedFor16384Ranks) {
  const PlanCase plan_case("", RingGrid::healpix(32768), 65535, 65535, 0);
  const OrderDistribution orders = plan_case.orders(16384);
  EXPECT_LE(imbalance(orders, plan_case.limits), 1.1);
  RecordProperty("imbalance", std::to_string(imbalance(orders, plan_case.limits)));
}

}  // namespace
}  // namespace ringweave::detail::test
