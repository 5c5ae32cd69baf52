// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/staged_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mode_labels.hpp"
#include "plan_cases.hpp"
#include "queued_memory.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::test {
namespace {

const ExchangeOptions in_single_precision{.precision = ModePrecision::single_};

struct Staged {
  ExchangePlan plan;
  std::vector<RowPart> parts;
  QueuedMemory memory;
  StagedExchange<QueuedMemory> exchange;

  Staged(const PlanCase& of, const Communicator& comm, std::int64_t n_components, int n_parts,
         DeviceRoute route, const ExchangeOptions& options)
      : plan(plan_exchange(of.limits, of.fold, of.orders(comm.size()), of.rings(comm.size()),
                           comm.rank(), n_components, options)),
        parts(plan_row_parts(of.limits, of.fold, of.orders(comm.size()), of.rings(comm.size()),
                             comm.rank(), plan, options.folding, n_parts)),
        exchange(comm, {plan, parts, n_components, route, options.precision}, memory) {}
};

/// Calls visit(row) for the rows [first, first + count) that fold into no other, and those that
/// fold into them.
template <class Visit>
void for_each_row(const ModeLayout& layout, std::int64_t first, std::int64_t count,
                  const Visit& visit) {
  for (std::int64_t i = 0; i < ssize64(layout.rows()); ++i) {
    const ModeLayout::Row& row = layout.rows()[to_size(i)];
    const std::int64_t head = row.fold_into < 0 ? i : row.fold_into;
    if (head >= first && head < first + count) visit(row);
  }
}

void expect_every_mode_arrives(const PlanCase& plan_case, const Communicator& comm,
                               std::int64_t n_components, int n_parts, DeviceRoute route,
                               const ExchangeOptions& options) {
  SCOPED_TRACE(plan_case.name);
  Staged staged(plan_case, comm, n_components, n_parts, route, options);
  const ModeLayout& by_order_layout = staged.plan.by_order;
  HostBuffer<Value> by_order = buffer_for(by_order_layout, n_components);
  HostBuffer<Value> by_ring = buffer_for(staged.plan.by_ring, n_components);
  // Twice, for what the first call leaves behind.
  for (int call = 0; call < 2; ++call) {
    staged.exchange.orders_to_rings(
        [&](std::int64_t first, std::int64_t count) {
          staged.memory.work([&, first, count] {
            for_each_row(by_order_layout, first, count, [&](const ModeLayout::Row& row) {
              for_each_mode_of_row(by_order_layout, row, n_components,
                                   [&](std::int64_t i, Value value) { by_order[i] = value; });
            });
          });
        },
        by_order.data(), by_ring.data(), nullptr);
    std::int64_t wrong = -1;
    staged.memory.work([&] { wrong = count_wrong(staged.plan.by_ring, n_components, by_ring); });
    staged.memory.wait_for_work();
    EXPECT_EQ(wrong, 0);

    std::fill(by_order.begin(), by_order.end(), untouched);
    wrong = 0;
    std::multiset<int> used;
    staged.exchange.rings_to_orders(
        by_ring.data(), by_order.data(),
        [&](std::int64_t first, std::int64_t count) {
          staged.memory.work([&, first, count] {
            for_each_row(by_order_layout, first, count, [&](const ModeLayout::Row& row) {
              used.insert(row.m);
              for_each_mode_of_row(
                  by_order_layout, row, n_components,
                  [&](std::int64_t i, Value value) { wrong += by_order[i] != value ? 1 : 0; });
            });
          });
        },
        nullptr);
    staged.memory.wait_for_work();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(used.size(), by_order_layout.rows().size());
    std::fill(by_order.begin(), by_order.end(), untouched);
    std::fill(by_ring.begin(), by_ring.end(), untouched);
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesThroughStagingBuffers) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const std::int64_t n_components : {1, 3}) {
      for (const int n_parts : {1, 4}) {
        expect_every_mode_arrives(plan_case, comm(), n_components, n_parts, DeviceRoute::staged,
                                  {});
      }
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesThroughStagingBuffersInBlocks) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const Folding folding : {Folding::fold, Folding::keep}) {
      expect_every_mode_arrives(plan_case, comm(), 2, 3, DeviceRoute::staged,
                                {.folding = folding, .mpi_count_limit = 1000, .block_bytes = 4096});
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesStraightFromTheDevice) {
  for (const PlanCase& plan_case : small_cases())
    expect_every_mode_arrives(plan_case, comm(), 2, 2, DeviceRoute::direct, {});
}

TEST_P(OnEveryRankCount, StagingHoldsWhatGoesToOthersAlone) {
  const PlanCase plan_case("", RingGrid::healpix(32), 95, 95, 0);
  Staged staged(plan_case, comm(), 2, 4, DeviceRoute::staged, {});
  staged.exchange.allocate();
  const auto own = to_size(comm().rank());
  const std::int64_t positions = staged.plan.by_order.size() + staged.plan.by_ring.size() -
                                 staged.plan.by_order_blocks[own].count -
                                 staged.plan.by_ring_blocks[own].count;
  EXPECT_EQ(staged.memory.staged_bytes, comm().size() == 1 ? 0 : 16 * 2 * positions);
  EXPECT_EQ(staged.exchange.staging_bytes(), staged.memory.staged_bytes);
  EXPECT_EQ(staged.memory.buffer_bytes, 0);

  Staged direct(plan_case, comm(), 2, 4, DeviceRoute::direct, {});
  direct.exchange.allocate();
  EXPECT_EQ(direct.memory.staged_bytes, 0);
  EXPECT_EQ(direct.exchange.staging_bytes(), 0);

  Staged single(plan_case, comm(), 2, 4, DeviceRoute::staged, in_single_precision);
  single.exchange.allocate();
  EXPECT_EQ(single.memory.staged_bytes, staged.memory.staged_bytes / 2);
  EXPECT_EQ(single.exchange.device_bytes(), single.memory.buffer_bytes);
  EXPECT_EQ(single.exchange.device_bytes(), 8 * 2 * positions);
  EXPECT_EQ(2 * single.exchange.bytes_sent(), staged.exchange.bytes_sent());
}

/// Labels of one component are whole numbers, which single precision holds.
TEST_P(OnEveryRankCount, EveryModeArrivesInSinglePrecision) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
      expect_every_mode_arrives(plan_case, comm(), 1, 3, route, in_single_precision);
      expect_every_mode_arrives(
          plan_case, comm(), 1, 3, route,
          {.precision = ModePrecision::single_, .mpi_count_limit = 1000, .block_bytes = 4096});
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeIsRoundedOnceWhereverItGoes) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
    Staged staged(plan_case, comm(), 1, 2, route, in_single_precision);
    HostBuffer<Value> by_order = buffer_for(staged.plan.by_order, 1);
    HostBuffer<Value> by_ring = buffer_for(staged.plan.by_ring, 1);
    std::fill(by_order.begin(), by_order.end(), Value(1 + 1e-12, -1.0 / 3));
    const auto nothing = [](std::int64_t, std::int64_t) {};
    staged.exchange.orders_to_rings(nothing, by_order.data(), by_ring.data(), nullptr);
    staged.memory.wait_for_work();
    for_each_mode(staged.plan.by_ring, 1, [&](std::int64_t i, Value) {
      EXPECT_EQ(by_ring[i], Value(1, static_cast<float>(-1.0 / 3)));
    });
    EXPECT_NO_THROW(staged.exchange.require_range());
  }
}

TEST_P(OnEveryRankCount, AModeTooLargeForSinglePrecisionIsADataErrorOnAllRanks) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  Staged staged(plan_case, comm(), 1, 2, DeviceRoute::staged, in_single_precision);
  HostBuffer<Value> by_order = buffer_for(staged.plan.by_order, 1);
  HostBuffer<Value> by_ring = buffer_for(staged.plan.by_ring, 1);
  std::fill(by_order.begin(), by_order.end(), Value(1, 1));
  for_each_mode(staged.plan.by_order, 1, [&](std::int64_t i, Value) {
    if (comm().rank() == comm().size() - 1) by_order[i] = {0, -1e39};
  });
  const auto nothing = [](std::int64_t, std::int64_t) {};
  staged.exchange.orders_to_rings(nothing, by_order.data(), by_ring.data(), nullptr);
  EXPECT_THROW(staged.exchange.require_range(), DataError);
  EXPECT_NO_THROW(staged.exchange.require_range()) << "what was rounded before counts once";
}

TEST_P(OnEveryRankCount, WhatFailsOnOneRankFailsOnAll) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  Staged staged(plan_case, comm(), 1, 2, DeviceRoute::staged, {});
  HostBuffer<Value> by_order = buffer_for(staged.plan.by_order, 1);
  HostBuffer<Value> by_ring = buffer_for(staged.plan.by_ring, 1);
  const auto fails_on_the_last = [&](std::int64_t, std::int64_t) {
    if (comm().rank() == comm().size() - 1) throw ResourceError("no memory");
  };
  EXPECT_THROW(
      staged.exchange.orders_to_rings(fails_on_the_last, by_order.data(), by_ring.data(), nullptr),
      ResourceError);
}

}  // namespace
}  // namespace ringweave::test
