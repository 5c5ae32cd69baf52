// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "placed_modes.hpp"
#include "plan_cases.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::test {
namespace {

/// Both sides of a rank's exchange in one pass.
struct BothSides : ExchangePlan {
  ModeLayout by_order;
  std::vector<Block> by_order_blocks;  ///< [owner of the rings]

  BothSides(ExchangePlan rings, const OrderPasses& orders, int rank)
      : ExchangePlan(std::move(rings)), by_order(orders.by_order) {
    const OrderPasses::Pass& pass = orders.passes.front();
    for (Block block : pass.by_order_blocks) {
      block.first += orders.by_ring_size;
      by_order_blocks.push_back(block);
    }
    by_order_blocks[to_size(rank)] = pass.own;
  }
  /// Modes of the rank's orders.
  std::int64_t n_by_order() const {
    std::int64_t n = 0;
    for (const Block& block : by_order_blocks) n += block.count;
    return n;
  }
};

BothSides both_sides(const PlanCase& of, const OrderDistribution& orders,
                     const RingDistribution& rings, int rank, Folding folding) {
  const ExchangePlan plan = plan_exchange(of.limits, of.fold, orders, rings, rank, folding);
  return {plan,
          plan_order_passes(of.limits, of.fold, orders, rings, rank, plan, {.folding = folding}),
          rank};
}

struct Plans {
  PlanCase plan_case;
  OrderDistribution orders;
  RingDistribution rings;
  Folding folding;
  std::vector<BothSides> of_rank;

  Plans(const PlanCase& some_case, int n_ranks, Folding some_folding = Folding::fold)
      : plan_case(some_case),
        orders(some_case.orders(n_ranks)),
        rings(some_case.rings(n_ranks)),
        folding(some_folding) {
    for (int rank = 0; rank < n_ranks; ++rank) {
      of_rank.push_back(both_sides(plan_case, orders, rings, rank, folding));
    }
  }
  bool folded(int m) const {
    return folds_away(plan_case.limits, plan_case.fold, orders, m, folding);
  }
};

/// Blocks are consecutive, except for a rank's own one.
void expect_blocks_tile(const std::vector<ExchangePlan::Block>& blocks, std::size_t other,
                        std::int64_t first, std::int64_t end) {
  std::int64_t next = first;
  for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
    if (peer == other) continue;
    EXPECT_EQ(blocks[peer].first, next);
    next += blocks[peer].count;
  }
  EXPECT_EQ(next, end);
}

/// Checks everything on which both sides of an exchange must agree, for all ranks at once.
void expect_sound(const Plans& plans) {
  const int n_ranks = static_cast<int>(plans.of_rank.size());
  std::vector<std::vector<Mode>> by_order;
  std::vector<std::vector<Mode>> by_ring;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const BothSides& plan = plans.of_rank[to_size(rank)];
    by_order.push_back(modes_by_position(plan.by_order));
    by_ring.push_back(modes_by_position(plan.by_ring));
    expect_blocks_tile(plan.by_order_blocks, to_size(rank), plan.by_ring.size(),
                       plan.by_order.size());
    expect_blocks_tile(plan.by_ring_blocks, plan.by_ring_blocks.size(), 0, plan.by_ring.size());
  }

  std::int64_t moved = 0;
  for (int q = 0; q < n_ranks; ++q) {
    for (int p = 0; p < n_ranks; ++p) {
      const auto sent =
          in_block(by_order[to_size(q)], plans.of_rank[to_size(q)].by_order_blocks[to_size(p)]);
      const auto received =
          in_block(by_ring[to_size(p)], plans.of_rank[to_size(p)].by_ring_blocks[to_size(q)]);
      ASSERT_EQ(sent, received) << "from rank " << q << " to " << p;
      EXPECT_TRUE(std::all_of(sent.begin(), sent.end(),
                              [&](const Mode& mode) {
                                return plans.orders.owner(mode.first) == q &&
                                       plans.rings.owner(RingId{mode.second}) == p;
                              }))
          << "from rank " << q << " to " << p;
      moved += ssize64(sent);
    }
  }

  // Every kept mode exactly once: positions are not shared, so it is enough that the counts and the
  // sets match.
  std::int64_t kept = 0;
  for (int m = 0; m <= plans.plan_case.limits.mmax(); ++m) {
    const RingRange rings = plans.plan_case.limits.kept(m);
    kept += rings.size() -
            (plans.folded(m) ? intersection(rings, plans.plan_case.fold.rings).size() : 0);
  }
  EXPECT_EQ(moved, kept);
  for (int p = 0; p < n_ranks; ++p) {
    std::set<Mode> on_rank;
    for (const Mode& mode : by_ring[to_size(p)]) {
      if (mode == padding) continue;
      EXPECT_TRUE(on_rank.insert(mode).second);
      EXPECT_TRUE(plans.plan_case.limits.kept(mode.first).contains(mode.second));
      EXPECT_FALSE(plans.folded(mode.first) && plans.plan_case.fold.rings.contains(mode.second));
    }
  }
}

void expect_rows_in_order(const Plans& plans) {
  for (std::size_t rank = 0; rank < plans.of_rank.size(); ++rank) {
    const BothSides& plan = plans.of_rank[rank];
    const auto mine = plans.orders.orders(static_cast<int>(rank));
    ASSERT_EQ(plan.by_order.rows().size(), mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(plan.by_order.rows()[i].m, mine[i]);
    ASSERT_EQ(ssize64(plan.by_ring.rows()), plans.plan_case.limits.mmax() + 1);
    for (int m = 0; m <= plans.plan_case.limits.mmax(); ++m)
      EXPECT_EQ(plan.by_ring.rows()[to_size(m)].m, m);
  }
}

void expect_folds_name_the_alias(const Plans& plans) {
  for (const BothSides& plan : plans.of_rank) {
    for (const ModeLayout* layout : {&plan.by_order, &plan.by_ring}) {
      for (const ModeLayout::Row& row : layout->rows()) {
        EXPECT_EQ(row.fold_into >= 0, plans.folded(row.m));
        if (row.fold_into < 0) continue;
        const int m0 = layout->rows()[to_size(row.fold_into)].m;
        EXPECT_EQ(m0, plans.plan_case.fold.alias(row.m).m0);
        const RingRange there = plans.plan_case.limits.kept(m0);
        EXPECT_FALSE(row.fold_rings.empty());
        EXPECT_EQ(intersection(row.fold_rings, there), row.fold_rings);
      }
    }
  }
}

TEST(ExchangePlan, BothSidesListTheSameModesInTheSameOrder) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 3, 5, 8, 13}) {
      for (const Folding folding : {Folding::fold, Folding::keep}) {
        SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
        const Plans plans(plan_case, n_ranks, folding);
        expect_sound(plans);
        expect_rows_in_order(plans);
        expect_folds_name_the_alias(plans);
      }
    }
  }
}

TEST(ExchangePlan, HoldsWithMoreRanksThanRingsAndOrders) {
  for (const PlanCase& plan_case : small_cases()) {
    if (plan_case.grid->n_rings() > 40) continue;
    SCOPED_TRACE(plan_case.name);
    expect_sound(Plans(plan_case, 64));
  }
}

TEST(ExchangePlan, OneRankHasTheSameLayoutOnBothSides) {
  for (const PlanCase& plan_case : small_cases()) {
    const Plans plans(plan_case, 1);
    const BothSides& plan = plans.of_rank[0];
    EXPECT_EQ(modes_by_position(plan.by_order), modes_by_position(plan.by_ring)) << plan_case.name;
    ASSERT_EQ(plan.by_order.rows().size(), plan.by_ring.rows().size());
    for (std::size_t i = 0; i < plan.by_order.rows().size(); ++i) {
      EXPECT_EQ(plan.by_order.rows()[i].fold_into, plan.by_ring.rows()[i].fold_into);
      EXPECT_EQ(plan.by_order.rows()[i].n_segments, plan.by_ring.rows()[i].n_segments);
    }
  }
}

TEST(ExchangePlan, JoinsSegmentsThatAreConsecutive) {
  const PlanCase plan_case("", RingGrid::healpix(16), 32, 32, 0);
  const Plans plans(plan_case, 1);
  for (const ModeLayout::Row& row : plans.of_rank[0].by_order.rows()) EXPECT_EQ(row.n_segments, 1);
}

TEST(ExchangeVolume, CountsWhatThePlansMove) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 3, 8, 13}) {
      for (const Folding folding : {Folding::fold, Folding::keep}) {
        SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
        const Plans plans(plan_case, n_ranks, folding);
        const ExchangeVolume volume =
            exchange_volume(plan_case.limits, plan_case.fold, plans.orders, plans.rings, folding);
        for (int rank = 0; rank < n_ranks; ++rank) {
          const BothSides& plan = plans.of_rank[to_size(rank)];
          EXPECT_EQ(volume.by_order[to_size(rank)], plan.n_by_order());
          EXPECT_EQ(volume.by_ring[to_size(rank)], plan.by_ring.size());
          EXPECT_EQ(volume.own[to_size(rank)], plan.by_order_blocks[to_size(rank)].count);
        }
      }
    }
  }
}

TEST(ExchangeVolume, PruningAndFoldingSendFarLessThanTheDenseArray) {
  const int n_ranks = 8;
  const auto share = [&](int nside, int lmax, Folding folding) {
    const PlanCase plan_case("", RingGrid::healpix(nside), lmax, lmax, 0);
    const ExchangeVolume volume =
        exchange_volume(plan_case.limits, plan_case.fold, plan_case.orders(n_ranks),
                        plan_case.rings(n_ranks), folding);
    return static_cast<double>(volume.total_sent()) / static_cast<double>(volume.dense_sent);
  };
  EXPECT_NEAR(share(2048, 4096, Folding::fold), 0.683, 0.005);
  EXPECT_NEAR(share(2048, 6143, Folding::keep), 0.677, 0.005);
  EXPECT_NEAR(share(2048, 6143, Folding::fold), 0.541, 0.005);
}

TEST(ExchangePlan, SumsMatchFor16384RanksWithoutOverflow) {
  const int n_ranks = 16384;
  const PlanCase plan_case("", RingGrid::healpix(32768), 65535, 65535, 2);
  const OrderDistribution orders = plan_case.orders(n_ranks);
  const RingDistribution rings = plan_case.rings(n_ranks);
  const ExchangeVolume volume = exchange_volume(plan_case.limits, plan_case.fold, orders, rings);

  std::int64_t kept = 0;
  for (int m = 0; m <= 65535; ++m) kept += plan_case.limits.kept(m).size();
  std::int64_t by_order = 0;
  std::int64_t by_ring = 0;
  for (std::size_t rank = 0; rank < to_size(n_ranks); ++rank) {
    by_order += volume.by_order[rank];
    by_ring += volume.by_ring[rank];
  }
  EXPECT_EQ(by_order, kept);
  EXPECT_EQ(by_ring, kept);

  std::vector<std::pair<int, BothSides>> some;
  for (const int rank : {0, 8191, 16383})
    some.emplace_back(rank, both_sides(plan_case, orders, rings, rank, Folding::fold));
  for (const auto& [q, sender] : some) {
    EXPECT_EQ(sender.n_by_order(), volume.by_order[to_size(q)]);
    EXPECT_EQ(sender.by_ring.size(), volume.by_ring[to_size(q)]);
    for (const auto& [p, receiver] : some) {
      EXPECT_EQ(sender.by_order_blocks[to_size(p)].count,
                receiver.by_ring_blocks[to_size(q)].count);
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
