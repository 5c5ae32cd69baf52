// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "base/checked_cast.hpp"
#include "plan_cases.hpp"

namespace ringweave::detail::test {
namespace {

constexpr double pi = std::numbers::pi;
const std::vector<double> supports{0, 1e-3, 0.05, 0.3, pi / 2, 3, pi, 100};
const std::vector<int> rank_counts{1, 2, 3, 5, 7, 8, 13, 64, 500};

/// Numbers without a pattern, some of them 0.
RingPayload odd_payload(const RingGrid& grid) {
  std::vector<std::int64_t> values;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) values.push_back(r * r % 7);
  return RingPayload(values);
}

std::vector<RingPayload> payloads(const RingGrid& grid) {
  return {RingPayload::pixels(grid), RingPayload::modes(grid), odd_payload(grid)};
}

std::vector<HaloPlan> plans_of_all(const RingDistribution& rings, double support,
                                   const RingPayload& payload) {
  std::vector<HaloPlan> plans;
  for (int rank = 0; rank < rings.n_ranks(); ++rank) {
    plans.push_back(plan_halo(rings, rank, support, payload));
  }
  return plans;
}

/// The distributions of convolutions, and bands of several sections.
std::vector<RingDistribution> distributions(const PlanCase& plan_case, int n_ranks) {
  return {plan_case.single_bands(n_ranks), plan_case.rings(n_ranks)};
}

/// Smallest distance of a ring to those of a rank; infinite where it owns none.
double distance_to_rank(const RingDistribution& rings, int rank, std::int64_t ring) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const RingRange& band : rings.bands(rank)) {
    for (std::int64_t r = band.begin; r < band.end; ++r) {
      smallest = std::min(smallest, std::abs(rings.grid()->ring(RingId{r}).theta -
                                             rings.grid()->ring(RingId{ring}).theta));
    }
  }
  return smallest;
}

void expect_needed_rings(const RingDistribution& rings, double support) {
  const RingGrid& grid = *rings.grid();
  const RingPayload payload = RingPayload::pixels(grid);
  for (int rank = 0; rank < rings.n_ranks(); ++rank) {
    const HaloPlan plan = plan_halo(rings, rank, support, payload);
    std::int64_t wrong = 0;
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
      const double distance = distance_to_rank(rings, rank, r);
      const bool foreign = rings.owner(RingId{r}) != rank;
      const bool needed = foreign && distance <= support;
      const bool far = !foreign || distance > support + 1e-9;
      const bool there = plan.contains(RingId{r});
      wrong += (needed && !there) || (far && there) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << "rank " << rank;
  }
}

TEST(HaloPlan, HoldsTheForeignRingsWithinTheSupportAndNoOthers) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 3, 7, 64}) {
      for (const RingDistribution& rings : distributions(plan_case, n_ranks)) {
        for (const double support : supports) {
          SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks) + ", support " +
                       std::to_string(support));
          expect_needed_rings(rings, support);
        }
      }
    }
  }
}

void expect_runs_without_gaps(const HaloPlan& plan, const RingPayload& payload) {
  std::int64_t next = 0;
  std::int64_t rings = 0;
  std::int64_t last = -1;
  for (const HaloPlan::Run& run : plan.runs) {
    ASSERT_GT(run.rings.begin, last);
    ASSERT_FALSE(run.rings.empty());
    for (std::int64_t r = run.rings.begin; r < run.rings.end; ++r, ++rings) {
      ASSERT_EQ(plan.first(RingId{r}), next);
      next += payload.values(RingId{r});
    }
    last = run.rings.end;
  }
  ASSERT_EQ(plan.halo_size, next);
  ASSERT_EQ(plan.n_halo_rings(), rings);
  ASSERT_EQ(plan.halo_bytes(3, 16), next * 48);
}

TEST(HaloPlan, NumbersTheHaloFromNorthToSouthWithoutGaps) {
  for (const PlanCase& plan_case : small_cases()) {
    const RingPayload payload = odd_payload(*plan_case.grid);
    for (const int n_ranks : rank_counts) {
      for (const RingDistribution& rings : distributions(plan_case, n_ranks)) {
        for (const double support : {0.05, 0.5, pi}) {
          for (const HaloPlan& plan : plans_of_all(rings, support, payload)) {
            expect_runs_without_gaps(plan, payload);
            ASSERT_LE(plan.runs.size(), 2 * rings.bands(plan.rank).size());
          }
        }
      }
      for (const HaloPlan& plan : plans_of_all(plan_case.single_bands(n_ranks), 0.05, payload))
        ASSERT_LE(plan.runs.size(), 4u);
    }
  }
}

/// The messages of `from`, as `to` should see them.
std::vector<HaloPlan::Message> of_peer(const std::vector<HaloPlan::Message>& messages, int peer) {
  std::vector<HaloPlan::Message> result;
  for (const HaloPlan::Message& message : messages) {
    if (message.peer == peer) result.push_back(message);
  }
  return result;
}

void expect_sent_is_expected(const HaloPlan& sender, const HaloPlan& receiver) {
  const auto sent = of_peer(sender.sends, receiver.rank);
  const auto expected = of_peer(receiver.receives, sender.rank);
  ASSERT_EQ(sent.size(), expected.size()) << sender.rank << " to " << receiver.rank;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].rings, expected[i].rings);
    EXPECT_EQ(sent[i].count, expected[i].count);
  }
}

void expect_plans_fit(const std::vector<HaloPlan>& plans) {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  for (const HaloPlan& plan : plans) {
    EXPECT_TRUE(of_peer(plan.sends, plan.rank).empty());
    EXPECT_TRUE(of_peer(plan.receives, plan.rank).empty());
    for (const HaloPlan& other : plans) expect_sent_is_expected(plan, other);
    sent += plan.sent_bytes(2, 8);
    received += plan.halo_bytes(2, 8);
  }
  EXPECT_EQ(sent, received);
}

TEST(HaloPlan, WhatIsSentIsWhatTheOtherExpectsAndNothingGoesToOneself) {
  for (const PlanCase& plan_case : small_cases()) {
    const RingPayload payload = RingPayload::pixels(*plan_case.grid);
    for (const int n_ranks : {1, 2, 3, 5, 8, 64}) {
      for (const RingDistribution& rings : distributions(plan_case, n_ranks)) {
        for (const double support : supports) {
          SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks) + ", support " +
                       std::to_string(support));
          expect_plans_fit(plans_of_all(rings, support, payload));
        }
      }
    }
  }
}

/// Identifies a value.
std::int64_t label(std::int64_t ring, std::int64_t i) { return ring * 100000 + i; }

std::vector<std::int64_t> own_values(const RingDistribution& rings, int rank,
                                     const RingPayload& payload) {
  const LocalRings local = rings.rings(rank);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < local.n_rings(); ++i) {
    const RingId ring = local.global(LocalRing{i});
    for (std::int64_t k = 0; k < payload.values(ring); ++k) values.push_back(label(index(ring), k));
  }
  return values;
}

void expect_rings_arrive_once(const RingDistribution& rings, double support,
                              const RingPayload& payload) {
  const std::vector<HaloPlan> plans = plans_of_all(rings, support, payload);
  std::vector<std::vector<std::int64_t>> own;
  for (const HaloPlan& plan : plans) {
    own.push_back(own_values(rings, plan.rank, payload));
    ASSERT_EQ(ssize64(own.back()), plan.own_size);
  }
  for (const HaloPlan& plan : plans) {
    std::vector<std::int64_t> halo(to_size(plan.halo_size), -1);
    for (const HaloPlan::Message& part : plan.receives) {
      const std::vector<std::int64_t>& theirs = own[to_size(part.peer)];
      for (const HaloPlan::Message& sent : of_peer(plans[to_size(part.peer)].sends, plan.rank)) {
        if (sent.rings != part.rings) continue;
        ASSERT_TRUE(std::all_of(halo.begin() + part.first, halo.begin() + part.first + part.count,
                                [](std::int64_t v) { return v == -1; }));
        std::copy_n(theirs.begin() + sent.first, sent.count, halo.begin() + part.first);
      }
    }
    std::int64_t wrong = 0;
    for (std::int64_t r = 0; r < rings.grid()->n_rings(); ++r) {
      if (!plan.contains(RingId{r})) continue;
      for (std::int64_t k = 0; k < payload.values(RingId{r}); ++k)
        wrong += halo[to_size(plan.first(RingId{r}) + k)] != label(r, k) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::count(halo.begin(), halo.end(), -1), 0);
  }
}

TEST(HaloPlan, MessagesCarryEveryRingToItsPlaceOnce) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const RingPayload& payload : payloads(*plan_case.grid)) {
      for (const int n_ranks : {2, 3, 8, 13}) {
        for (const RingDistribution& rings : distributions(plan_case, n_ranks)) {
          for (const double support : {0.05, 0.5, pi}) {
            SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks) + ", support " +
                         std::to_string(support));
            expect_rings_arrive_once(rings, support, payload);
          }
        }
      }
    }
  }
}

TEST(HaloPlan, IsEmptyOnOneRankAndOnRanksWithoutRings) {
  for (const PlanCase& plan_case : small_cases()) {
    const RingPayload payload = RingPayload::modes(*plan_case.grid);
    const HaloPlan alone = plan_halo(plan_case.rings(1), 0, pi, payload);
    EXPECT_EQ(alone.halo_size, 0);
    EXPECT_TRUE(alone.sends.empty());
    const RingDistribution rings = plan_case.rings(500);
    for (int rank = 0; rank < 500; ++rank) {
      if (rings.n_rings(rank) > 0) continue;
      const HaloPlan plan = plan_halo(rings, rank, pi, payload);
      EXPECT_EQ(plan.halo_size + plan.own_size, 0);
      EXPECT_TRUE(plan.sends.empty());
      EXPECT_TRUE(plan.receives.empty());
    }
  }
}

TEST(HaloPlan, OfTheWholeSphereHoldsAllThatIsNotOwn) {
  for (const PlanCase& plan_case : small_cases()) {
    const RingPayload payload = RingPayload::pixels(*plan_case.grid);
    for (const HaloPlan& plan : plans_of_all(plan_case.rings(3), pi, payload)) {
      if (plan.n_own_rings == 0) continue;
      EXPECT_EQ(plan.n_halo_rings() + plan.n_own_rings, plan_case.grid->n_rings());
      EXPECT_EQ(plan.halo_size + plan.own_size, plan_case.grid->n_pixels());
    }
  }
}

TEST(RingsWithin, RingsAtExactlyTheSupportBelongToIt) {
  for (const std::int64_t n_rings : {101, 1025, 8193}) {
    const RingGrid grid = RingGrid::clenshaw_curtis(n_rings, 4);
    const double step = pi / static_cast<double>(n_rings - 1);
    for (const std::int64_t reach : {std::int64_t{0}, std::int64_t{1}, n_rings / 7}) {
      for (std::int64_t r = 0; r < n_rings; ++r) {
        const RingRange within = rings_within(grid, {r, r + 1}, static_cast<double>(reach) * step);
        ASSERT_EQ(within.begin, std::max<std::int64_t>(r - reach, 0));
        ASSERT_EQ(within.end, std::min<std::int64_t>(r + reach + 1, n_rings));
      }
    }
  }
}

TEST(RingsWithin, IsSymmetric) {
  const RingGrid grid = RingGrid::healpix(64);
  // Also supports that are differences of colatitudes.
  for (const double support : {0.0, 0.01, 1.0, grid.ring(RingId{40}).theta,
                               grid.ring(RingId{200}).theta - grid.ring(RingId{3}).theta}) {
    std::vector<RingRange> within;
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
      within.push_back(rings_within(grid, {r, r + 1}, support));
    }
    for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
      for (std::int64_t s = 0; s < grid.n_rings(); ++s) {
        ASSERT_EQ(within[to_size(r)].contains(s), within[to_size(s)].contains(r)) << r << " " << s;
      }
    }
  }
}

TEST(RingsWithin, LosesNoPixelThatTheChordAccepts) {
  // From pole to pole, and near it, a chord cannot resolve the angle.
  const RingGrid grid = RingGrid::clenshaw_curtis(20001, 4);
  const auto chord_squared = [](double angle) { return 4 * std::pow(std::sin(angle / 2), 2); };
  for (const double less : {1e-1, 1e-3, 1e-6, 1e-7, 1e-8, 1e-10, 1e-15}) {
    const double support = pi - less;
    for (const std::int64_t r : {0, 1, 2, 3, 100, 10000}) {
      const RingRange within = rings_within(grid, {r, r + 1}, support);
      for (std::int64_t s = 0; s < grid.n_rings(); ++s) {
        const double distance = grid.ring(RingId{s}).theta - grid.ring(RingId{r}).theta;
        if (chord_squared(distance) <= chord_squared(support)) {
          ASSERT_TRUE(within.contains(s)) << less << " " << r << " " << s;
        }
      }
    }
  }
}

TEST(RingsWithin, RefusesWhatIsNoAngle) {
  const RingGrid grid = RingGrid::healpix(4);
  for (const double support : {-1e-9, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(rings_within(grid, {0, 1}, support), UsageError);
    EXPECT_THROW(rings_within(grid, {}, support), UsageError);
  }
  EXPECT_TRUE(rings_within(grid, {}, 1).empty());
  EXPECT_EQ(rings_within(grid, {0, 1}, std::numeric_limits<double>::infinity()),
            (RingRange{0, 15}));
}

TEST(RingPayload, RefusesWhatIsNoNumberOfValues) {
  EXPECT_THROW(RingPayload(std::vector<std::int64_t>{1, -1}), UsageError);
  EXPECT_THROW(RingPayload(std::vector<std::int64_t>{std::int64_t{1} << 62, std::int64_t{1} << 62}),
               UsageError);
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const RingPayload other = RingPayload::pixels(RingGrid::healpix(4));
  EXPECT_THROW(plan_halo(plan_case.rings(2), 0, 0.1, other), UsageError);
}

TEST(HaloPlan, FitsTheLargestGridsOn16384Ranks) {
  const int n_ranks = 16384;
  const PlanCase plan_case("", RingGrid::healpix(16384), 32768, 32768, 0);
  const RingDistribution rings = plan_case.single_bands(n_ranks);
  const RingPayload payload = RingPayload::modes(*plan_case.grid);
  for (const double support : {0.0, 1e-4, 0.02, pi}) {
    SCOPED_TRACE(support);
    const int stride = support > 1 ? 4001 : 257;
    for (int rank = 0; rank < n_ranks; rank += stride) {
      const HaloPlan plan = plan_halo(rings, rank, support, payload);
      std::set<int> peers;
      std::int64_t received = 0;
      for (const HaloPlan::Message& message : plan.receives) {
        peers.insert(message.peer);
        received += message.count;
      }
      ASSERT_EQ(received, plan.halo_size);
      std::set<int> served;
      for (const HaloPlan::Message& message : plan.sends) served.insert(message.peer);
      ASSERT_EQ(peers, served);
      ASSERT_EQ(peers.empty(), support == 0);
      // Only a few of them: the nearest and the farthest.
      for (const int peer :
           {peers.empty() ? rank : *peers.begin(), peers.empty() ? rank : *peers.rbegin()}) {
        const HaloPlan other = plan_halo(rings, peer, support, payload);
        expect_sent_is_expected(plan, other);
        expect_sent_is_expected(other, plan);
      }
    }
  }
  const HaloPlan whole = plan_halo(rings, 16383, pi, payload);
  EXPECT_EQ(whole.receives.size(), 2u * 16383);
  EXPECT_EQ(whole.halo_size + whole.own_size, payload.values({0, plan_case.grid->n_rings()}));
  EXPECT_GT(whole.halo_bytes(3, 16), std::int64_t{1} << 36);
}

}  // namespace
}  // namespace ringweave::detail::test
