// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/ring_transfer_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/checked_cast.hpp"
#include "plan_cases.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::test {
namespace {

/// The first n_first of n ranks own the rings in one distribution, the others in the other.
struct Groups {
  RingDistribution first;
  RingDistribution last;

  Groups(const PlanCase& plan_case, int n_first, int n)
      : first(plan_case.single_bands(n_first), 0, n),
        last(plan_case.rings(n - n_first), n_first, n) {}
};

TEST(RingTransferPlan, SendsEveryRingOnceToItsOwnerWhoExpectsIt) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const auto& [n_first, n] : {std::pair{1, 2}, {1, 3}, {2, 3}, {3, 8}, {7, 8}, {40, 300}}) {
      SCOPED_TRACE(plan_case.name + ", " + std::to_string(n_first) + " of " + std::to_string(n));
      const Groups groups(plan_case, n_first, n);
      std::map<std::pair<int, int>, std::vector<RingRange>> sent;
      std::map<std::pair<int, int>, std::vector<RingRange>> expected;
      std::vector<int> seen(to_size(plan_case.grid->n_rings()), 0);
      for (int rank = 0; rank < n; ++rank) {
        const RingTransferPlan plan = plan_ring_transfer(groups.first, groups.last, rank);
        const LocalRings before = groups.first.rings(rank);
        const LocalRings after = groups.last.rings(rank);
        EXPECT_EQ(plan.size_before, before.n_pixels());
        EXPECT_EQ(plan.size_after, after.n_pixels());
        EXPECT_TRUE(rank < n_first ? plan.receives.empty() : plan.sends.empty());
        for (const RingTransferPlan::Message& message : plan.sends) {
          EXPECT_EQ(message.first, before.first_pixel(before.local(RingId{message.rings.begin})));
          sent[{rank, message.peer}].push_back(message.rings);
          for (std::int64_t r = message.rings.begin; r < message.rings.end; ++r) {
            ++seen[to_size(r)];
            EXPECT_EQ(groups.last.owner(RingId{r}), message.peer);
          }
        }
        for (const RingTransferPlan::Message& message : plan.receives) {
          EXPECT_EQ(message.first, after.first_pixel(after.local(RingId{message.rings.begin})));
          expected[{message.peer, rank}].push_back(message.rings);
        }
      }
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n_seen) { return n_seen == 1; }));
      EXPECT_EQ(sent, expected);
    }
  }
}

TEST(RingTransferPlan, IsMadeForManyRanksAndFineGrids) {
  const PlanCase plan_case("", RingGrid::healpix(8192), 100, 100, 0);
  const Groups groups(plan_case, 12000, 16384);
  std::int64_t pixels = 0;
  for (const int rank : {0, 5000, 11999}) {
    const RingTransferPlan plan = plan_ring_transfer(groups.first, groups.last, rank);
    for (const RingTransferPlan::Message& message : plan.sends) pixels += message.count;
    EXPECT_EQ(plan.size_before, groups.first.rings(rank).n_pixels());
  }
  EXPECT_GT(pixels, 0);
}

TEST(RingTransferPlan, RefusesDistributionsThatDoNotFit) {
  const PlanCase one("", RingGrid::healpix(8), 16, 16, 0);
  const PlanCase other("", RingGrid::healpix(8), 16, 16, 0);
  EXPECT_THROW(plan_ring_transfer(one.rings(2), one.rings(3), 0), UsageError);
  EXPECT_THROW(plan_ring_transfer(one.rings(2), other.rings(2), 0), UsageError);
}

TEST(RingDistribution, OfFewRanksBecomesOneOfMoreWhoseOthersOwnNothing) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const RingDistribution few = plan_case.rings(3);
  const RingDistribution more(few, 2, 7);
  EXPECT_EQ(more.n_ranks(), 7);
  for (int rank = 0; rank < 7; ++rank) {
    const bool owns = rank >= 2 && rank < 5;
    EXPECT_EQ(more.n_rings(rank), owns ? few.n_rings(rank - 2) : 0);
    EXPECT_EQ(more.rings(rank).n_pixels(), owns ? few.rings(rank - 2).n_pixels() : 0);
  }
  for (std::int64_t r = 0; r < plan_case.grid->n_rings(); ++r)
    EXPECT_EQ(more.owner(RingId{r}), few.owner(RingId{r}) + 2);
  const RingDistribution back(RingDistribution(few, 0, 7), 0, 3);
  EXPECT_EQ(back.n_ranks(), 3);
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(back.n_rings(rank), few.n_rings(rank));
  EXPECT_THROW(RingDistribution(few, 5, 7), UsageError);
  EXPECT_THROW(RingDistribution(few, 0, 2), UsageError);
  EXPECT_THROW(RingDistribution(few, -1, 7), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
