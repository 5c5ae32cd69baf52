// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/order_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "placed_modes.hpp"
#include "plan_cases.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::test {
namespace {

struct RankPlan {
  ExchangePlan whole;
  OrderPasses passes;
  std::vector<int> orders;
};

std::vector<RankPlan> plans_of(const PlanCase& plan_case, int n_ranks,
                               const OrderPassOptions& options) {
  const OrderDistribution orders = plan_case.orders(n_ranks);
  const RingDistribution rings = plan_case.rings(n_ranks);
  std::vector<RankPlan> plans;
  for (int rank = 0; rank < n_ranks; ++rank) {
    RankPlan plan;
    plan.whole =
        plan_exchange(plan_case.limits, plan_case.fold, orders, rings, rank, options.folding);
    plan.passes = plan_order_passes(plan_case.limits, plan_case.fold, orders, rings, rank,
                                    plan.whole, options);
    const auto mine = orders.orders(rank);
    plan.orders.assign(mine.begin(), mine.end());
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Tells whether a row belongs to a part or a pass: by itself or by the row it folds into.
bool in_part(const OrderPasses::Part& part, const ModeLayout& layout, std::int64_t row) {
  const std::int64_t into = layout.rows()[to_size(row)].fold_into;
  return part.rows.contains(into < 0 ? row : into);
}
bool in_pass(const OrderPasses::Pass& pass, const ModeLayout& layout, std::int64_t row) {
  return std::any_of(pass.parts.begin(), pass.parts.end(),
                     [&](const OrderPasses::Part& part) { return in_part(part, layout, row); });
}

void expect_sound(const std::vector<RankPlan>& plans, const OrderPassOptions& options) {
  const std::size_t n_ranks = plans.size();
  std::vector<std::vector<Mode>> by_ring;
  for (const RankPlan& plan : plans) by_ring.push_back(modes_by_position(plan.whole.by_ring));
  for (int p = 0; p < options.n_passes; ++p) {
    for (std::size_t q = 0; q < n_ranks; ++q) {
      const OrderPasses& mine = plans[q].passes;
      const OrderPasses::Pass& pass = mine.passes[to_size(p)];
      const auto sent = modes_by_position(
          mine.by_order, [&](std::int64_t row) { return in_pass(pass, mine.by_order, row); });
      const std::int64_t slot = p % options.n_slots * mine.slot_positions;
      std::int64_t count = pass.own.count;
      EXPECT_EQ(pass.by_order_blocks[q].count, 0);
      EXPECT_EQ(in_block(sent, pass.own), in_block(by_ring[q], pass.own))
          << "pass " << p << " of rank " << q;
      for (std::size_t r = 0; r < n_ranks; ++r) {
        ExchangePlan::Block block = pass.by_order_blocks[r];
        EXPECT_GE(block.first, slot);
        EXPECT_LE(block.first + block.count, slot + mine.slot_positions);
        block.first += mine.by_ring_size;
        EXPECT_EQ(in_block(sent, block),
                  in_block(by_ring[r], plans[r].passes.passes[to_size(p)].by_ring_blocks[q]))
            << "pass " << p << " from rank " << q << " to " << r;
        count += block.count;
      }
      EXPECT_EQ(count, ssize64(sent) - std::count(sent.begin(), sent.end(), padding));
      EXPECT_LE(mine.all_slots(), options.n_slots * mine.slot_positions);
    }
  }
}

void expect_every_row_in_one_pass(const std::vector<RankPlan>& plans) {
  for (const RankPlan& plan : plans) {
    const ModeLayout& rows = plan.passes.by_order;
    ASSERT_EQ(rows.rows().size(), plan.orders.size());
    for (std::int64_t row = 0; row < ssize64(rows.rows()); ++row) {
      int n_passes = 0;
      for (const OrderPasses::Pass& pass : plan.passes.passes)
        n_passes += in_pass(pass, rows, row) ? 1 : 0;
      EXPECT_EQ(n_passes, 1);
      EXPECT_EQ(rows.rows()[to_size(row)].m, plan.orders[to_size(row)]);
    }
  }
}

TEST(OrderPasses, BothSidesListTheSameModesInTheSameOrder) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 5, 13}) {
      for (const Folding folding : {Folding::fold, Folding::keep}) {
        for (const int n_passes : {1, 3, 20}) {
          SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
          const OrderPassOptions options{
              .folding = folding, .n_passes = n_passes, .n_slots = n_passes == 3 ? 1 : 2};
          const auto plans = plans_of(plan_case, n_ranks, options);
          expect_sound(plans, options);
          expect_every_row_in_one_pass(plans);
        }
      }
    }
  }
}

TEST(OrderPasses, HaveMultiplesOfOrders) {
  const PlanCase plan_case("", RingGrid::healpix(64), 128, 128, 0);  // nothing folds
  const OrderPassOptions options{.n_passes = 5, .row_multiple = 4};
  const auto plans = plans_of(plan_case, 3, options);
  expect_sound(plans, options);
  expect_every_row_in_one_pass(plans);
  for (const RankPlan& plan : plans) {
    for (const OrderPasses::Pass& pass : plan.passes.passes)
      EXPECT_TRUE(pass.parts.empty() || pass.parts.front().rows.begin % 4 == 0);
  }
}

std::int64_t modes_of(const OrderPasses::Pass& pass) {
  std::int64_t count = pass.own.count;
  for (const ExchangePlan::Block& block : pass.by_order_blocks) count += block.count;
  return count;
}

TEST(OrderPasses, AreOfEqualSize) {
  const PlanCase plan_case("", RingGrid::healpix(256), 767, 767, 0);
  for (const Folding folding : {Folding::fold, Folding::keep}) {
    for (const int n_ranks : {2, 3}) {
      for (const std::int64_t multiple : {1, 8}) {
        const OrderPassOptions options{
            .folding = folding, .n_passes = 8, .n_slots = 2, .row_multiple = multiple};
        for (const RankPlan& plan : plans_of(plan_case, n_ranks, options)) {
          std::int64_t all = 0;
          for (const OrderPasses::Pass& pass : plan.passes.passes) all += modes_of(pass);
          const double mean = static_cast<double>(all) / 8;
          for (const OrderPasses::Pass& pass : plan.passes.passes) {
            EXPECT_LE(static_cast<double>(modes_of(pass)), (multiple == 1 ? 1.05 : 1.5) * mean);
            EXPECT_LE(modes_of(pass) - pass.own.count, plan.passes.slot_positions);
          }
        }
      }
    }
  }
}

TEST(OrderPasses, AreNotEmptyWhereOrdersAreFew) {
  const PlanCase plan_case("", RingGrid::healpix(64), 128, 128, 0);
  for (const RankPlan& plan :
       plans_of(plan_case, 8, {.n_passes = 8, .n_slots = 2, .row_multiple = 8})) {
    for (const OrderPasses::Pass& pass : plan.passes.passes) EXPECT_FALSE(pass.parts.empty());
  }
}

bool contains(const ExchangePlan::Block& block, std::int64_t first, std::int64_t count) {
  return first >= block.first && first + count <= block.first + block.count;
}

template <class Check>
void for_each_parted_plan(const Check& check) {
  for (const PlanCase& of : small_cases()) {
    for (const int n_ranks : {1, 2, 5, 8}) {
      for (const int n_parts : {1, 3, 8}) {
        for (const int n_passes : {1, 3}) {
          SCOPED_TRACE(of.name + " on " + std::to_string(n_ranks) + ", parts " +
                       std::to_string(n_parts));
          const auto plans = plans_of(of, n_ranks, {.n_passes = n_passes, .n_parts = n_parts});
          for (const RankPlan& plan : plans) check(plan);
        }
      }
    }
  }
}

TEST(OrderPasses, EveryModeOfARowLiesInTheSlotsOfItsPartOrStays) {
  for_each_parted_plan([](const RankPlan& plan) {
    const OrderPasses& passes = plan.passes;
    const ModeLayout& layout = passes.by_order;
    for (std::int64_t row = 0; row < ssize64(layout.rows()); ++row) {
      int n_parts = 0;
      for (const OrderPasses::Pass& pass : passes.passes) {
        for (const OrderPasses::Part& part : pass.parts) {
          if (!in_part(part, layout, row)) continue;
          ++n_parts;
          for (const RowSegment& segment : layout.segments(layout.rows()[to_size(row)])) {
            const std::int64_t count = segment.rings.size();
            const bool stays = contains(pass.own, segment.first, count);
            EXPECT_TRUE(stays || std::any_of(part.slots.begin(), part.slots.end(),
                                             [&](const auto& block) {
                                               return contains(block,
                                                               segment.first - passes.by_ring_size,
                                                               count);
                                             }))
                << "row " << row;
          }
        }
      }
      EXPECT_EQ(n_parts, 1) << "row " << row;
    }
  });
}

TEST(OrderPasses, PartsFollowOneAnotherInEveryBlock) {
  for_each_parted_plan([](const RankPlan& plan) {
    for (const OrderPasses::Pass& pass : plan.passes.passes) {
      for (std::size_t peer = 0; peer < pass.by_order_blocks.size(); ++peer) {
        const ExchangePlan::Block whole = pass.by_order_blocks[peer];
        std::int64_t next = whole.first;
        for (const OrderPasses::Part& part : pass.parts) {
          EXPECT_GT(part.rows.end, part.rows.begin);
          EXPECT_EQ(part.slots[peer].first, next);
          next += part.slots[peer].count;
        }
        EXPECT_EQ(next, whole.first + whole.count);
      }
    }
  });
}

TEST(OrderPasses, PartsAreOfAboutEqualSize) {
  const PlanCase of("", RingGrid::healpix(96), 287, 287, 0);
  const RankPlan plan = plans_of(of, 3, {.n_parts = 8})[1];
  std::vector<std::int64_t> sizes;
  for (const OrderPasses::Part& part : plan.passes.passes.front().parts) {
    std::int64_t& size = sizes.emplace_back(0);
    for (const auto& block : part.slots) size += block.count;
  }
  ASSERT_EQ(sizes.size(), 8u);
  EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()),
            2 * *std::min_element(sizes.begin(), sizes.end()));
}

}  // namespace
}  // namespace ringweave::detail::test
