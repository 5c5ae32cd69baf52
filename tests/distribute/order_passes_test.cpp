// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/order_passes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "plan_cases.hpp"

namespace ringweave::test {
namespace {

using Mode = std::pair<int, std::int64_t>;  // order, ring

struct RankPlan {
  ExchangePlan whole;
  OrderPasses passes;
};

std::vector<RankPlan> plans_of(const PlanCase& plan_case, int n_ranks,
                               const OrderPassOptions& options,
                               const ExchangeOptions& exchange_options = {}) {
  const OrderDistribution orders = plan_case.orders(n_ranks);
  const RingDistribution rings = plan_case.rings(n_ranks);
  ExchangeOptions whole = exchange_options;
  whole.folding = options.folding;
  std::vector<RankPlan> plans;
  for (int rank = 0; rank < n_ranks; ++rank) {
    RankPlan plan;
    plan.whole = plan_exchange(plan_case.limits, plan_case.fold, orders, rings, rank, 1, whole);
    plan.passes = plan_order_passes(plan_case.limits, plan_case.fold, orders, rings, rank,
                                    plan.whole, options);
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Whether a row belongs to a pass: by itself or by the row it folds into.
bool in_pass(const OrderPasses::Pass& pass, const ModeLayout& layout, std::int64_t row) {
  const std::int64_t into = layout.rows()[to_size(row)].fold_into;
  const std::int64_t leader = into < 0 ? row : into;
  return leader >= pass.first_row && leader < pass.first_row + pass.n_rows;
}

/// The modes of some rows by position. Fails where two share one.
template <class Chosen>
std::map<std::int64_t, Mode> modes_at(const ModeLayout& layout, const Chosen& chosen) {
  std::map<std::int64_t, Mode> modes;
  for (std::int64_t i = 0; i < ssize64(layout.rows()); ++i) {
    if (!chosen(i)) continue;
    const ModeLayout::Row& row = layout.rows()[to_size(i)];
    for (const RowSegment& segment : layout.segments(row)) {
      for (std::int64_t r = segment.rings.begin; r < segment.rings.end; ++r) {
        const std::int64_t position = segment.first + r - segment.rings.begin;
        EXPECT_TRUE(modes.emplace(position, Mode{row.m, r}).second) << "position used twice";
      }
    }
  }
  return modes;
}

std::vector<Mode> in_block(const std::map<std::int64_t, Mode>& modes,
                           const ExchangePlan::Block& block) {
  std::vector<Mode> result;
  for (std::int64_t i = block.first; i < block.first + block.count; ++i)
    result.push_back(modes.at(i));
  return result;
}

void expect_sound(const std::vector<RankPlan>& plans, const OrderPassOptions& options) {
  const std::size_t n_ranks = plans.size();
  std::vector<std::map<std::int64_t, Mode>> by_ring;
  for (const RankPlan& plan : plans)
    by_ring.push_back(modes_at(plan.whole.by_ring, [](std::int64_t) { return true; }));
  for (int p = 0; p < options.n_passes; ++p) {
    for (std::size_t q = 0; q < n_ranks; ++q) {
      const OrderPasses& mine = plans[q].passes;
      const OrderPasses::Pass& pass = mine.passes[to_size(p)];
      const auto sent = modes_at(
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
      EXPECT_EQ(count, ssize64(sent));
      EXPECT_LE(mine.all_slots(), options.n_slots * mine.slot_positions);
    }
  }
}

void expect_every_row_in_one_pass(const std::vector<RankPlan>& plans) {
  for (const RankPlan& plan : plans) {
    const ModeLayout& rows = plan.passes.by_order;
    ASSERT_EQ(rows.rows().size(), plan.whole.by_order.rows().size());
    for (std::int64_t row = 0; row < ssize64(rows.rows()); ++row) {
      int n_passes = 0;
      for (const OrderPasses::Pass& pass : plan.passes.passes)
        n_passes += in_pass(pass, rows, row) ? 1 : 0;
      EXPECT_EQ(n_passes, 1);
      EXPECT_EQ(rows.rows()[to_size(row)].m, plan.whole.by_order.rows()[to_size(row)].m);
      EXPECT_EQ(rows.rows()[to_size(row)].fold_into,
                plan.whole.by_order.rows()[to_size(row)].fold_into);
    }
  }
}

TEST(OrderPasses, BothSidesListTheSameModesInTheSameOrder) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const int n_ranks : {1, 2, 5, 13}) {
      for (const Folding folding : {Folding::fold, Folding::keep}) {
        for (const int n_passes : {1, 3, 20}) {
          SCOPED_TRACE(plan_case.name + " on " + std::to_string(n_ranks));
          const OrderPassOptions options{folding, n_passes, n_passes == 3 ? 1 : 2};
          const auto plans = plans_of(plan_case, n_ranks, options);
          expect_sound(plans, options);
          expect_every_row_in_one_pass(plans);
        }
      }
    }
  }
}

TEST(OrderPasses, CutExchangesThatCountInBlocks) {
  const PlanCase plan_case("", RingGrid::healpix(64), 191, 191, 0);
  const OrderPassOptions options{Folding::fold, 5, 2};
  const auto plans =
      plans_of(plan_case, 3, options, {.mpi_count_limit = 1000, .block_bytes = 4096});
  ASSERT_GT(plans[0].whole.block_positions, 1);
  expect_sound(plans, options);
}

TEST(OrderPasses, HaveMultiplesOfOrders) {
  const PlanCase plan_case("", RingGrid::healpix(64), 128, 128, 0);  // nothing folds
  const OrderPassOptions options{Folding::fold, 5, 1, 4};
  const auto plans = plans_of(plan_case, 3, options);
  expect_sound(plans, options);
  expect_every_row_in_one_pass(plans);
  for (const RankPlan& plan : plans) {
    for (const OrderPasses::Pass& pass : plan.passes.passes)
      EXPECT_TRUE(pass.n_rows == 0 || pass.first_row % 4 == 0);
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
        const OrderPassOptions options{folding, 8, 2, multiple};
        for (const RankPlan& plan : plans_of(plan_case, n_ranks, options)) {
          const double mean = static_cast<double>(plan.whole.by_order.size()) / 8;
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
  for (const RankPlan& plan : plans_of(plan_case, 8, {Folding::fold, 8, 2, 8})) {
    for (const OrderPasses::Pass& pass : plan.passes.passes) EXPECT_GT(pass.n_rows, 0);
  }
}

}  // namespace
}  // namespace ringweave::test
