// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "exchange_steps.hpp"
#include "mode_labels.hpp"
#include "plan_cases.hpp"
#include "queued_memory.hpp"
#include "ringweave/execution.hpp"
#include "support/rank_groups.hpp"

// The exchange of modes on a device, emulated by one that does nothing until it is waited for.
namespace ringweave::detail::test {
namespace {

const ExchangeOptions in_single_precision{.precision = ModePrecision::single_};

struct Staged {
  ExchangePlan whole;
  OrderPasses plan;
  std::int64_t n_components;
  QueuedMemory* device;  ///< used by the exchange
  ModeExchange exchange;
  HostBuffer<Value> modes;  ///< in the positions of plan.by_order
  ModeMemory memory;

  Staged(const PlanCase& of, const Communicator& comm, std::int64_t n, int n_parts,
         DeviceRoute route, const ExchangeOptions& options, int n_passes = 1)
      : Staged(of, comm, n, n_parts, route, options, n_passes, std::make_unique<QueuedMemory>()) {}

 private:
  Staged(const PlanCase& of, const Communicator& comm, std::int64_t n, int n_parts,
         DeviceRoute route, const ExchangeOptions& options, int n_passes,
         std::unique_ptr<QueuedMemory> queued)
      : whole(plan_exchange(of.limits, of.fold, of.orders(comm.size()), of.rings(comm.size()),
                            comm.rank(), options.folding)),
        plan(plan_order_passes(of.limits, of.fold, of.orders(comm.size()), of.rings(comm.size()),
                               comm.rank(), whole,
                               {.folding = options.folding,
                                .n_passes = n_passes,
                                .n_slots = ModeExchange::n_slots_of(options),
                                .n_parts = n_parts})),
        n_components(n),
        device(queued.get()),
        exchange(comm, plan, n, options,
                 std::make_unique<DeviceTransport<QueuedMemory>>(
                     std::move(queued), route, options.precision,
                     comm.max(plan.by_order.size()) <= options.mpi_count_limit)),
        modes(buffer_for(plan.by_order, n)),
        memory{modes.data(), plan.by_ring_size * n, modes.data() + plan.by_ring_size * n,
               plan.all_slots() * n} {
    exchange.allocate();
  }
};

template <class Visit>
void for_each_mode_of_part(const Staged& staged, const OrderPasses::Part& part,
                           const Visit& visit) {
  for_each_row(staged.plan.by_order, part, [&](const ModeLayout::Row& row) {
    for_each_mode_of_row(staged.plan.by_order, row, staged.n_components, visit);
  });
}

void expect_every_mode_arrives(const PlanCase& plan_case, const Communicator& comm,
                               std::int64_t n_components, int n_parts, DeviceRoute route,
                               const ExchangeOptions& options, int n_passes = 1) {
  SCOPED_TRACE(plan_case.name);
  Staged staged(plan_case, comm, n_components, n_parts, route, options, n_passes);
  // Twice, to find state left behind by the first call.
  for (int call = 0; call < 2; ++call) {
    exchange_to_rings(
        staged.exchange, staged.plan, staged.memory, [&](const OrderPasses::Part& part) {
          staged.device->work([&] {
            for_each_mode_of_part(staged, part,
                                  [&](std::int64_t i, Value value) { staged.modes[i] = value; });
          });
        });
    std::int64_t wrong = -1;
    staged.device->work(
        [&] { wrong = count_wrong(staged.whole.by_ring, n_components, staged.modes); });
    staged.device->wait_for_work();
    EXPECT_EQ(wrong, 0);

    std::fill(staged.modes.begin() + staged.memory.n_by_ring, staged.modes.end(), untouched);
    wrong = 0;
    std::int64_t used = 0;
    exchange_to_orders(
        staged.exchange, staged.plan, staged.memory, [&](const OrderPasses::Part& part) {
          staged.device->work([&] {
            for_each_row(staged.plan.by_order, part, [&](const ModeLayout::Row&) { ++used; });
            for_each_mode_of_part(staged, part, [&](std::int64_t i, Value value) {
              wrong += staged.modes[i] != value ? 1 : 0;
            });
          });
        });
    staged.device->wait_for_work();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(used, ssize64(staged.plan.by_order.rows()));
    std::fill(staged.modes.begin(), staged.modes.end(), untouched);
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

TEST_P(OnEveryRankCount, EveryModeArrivesInPasses) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
      for (const ExchangeSchedule schedule :
           {ExchangeSchedule::whole, ExchangeSchedule::overlapped})
        expect_every_mode_arrives(plan_case, comm(), 2, 2, route, {.schedule = schedule}, 3);
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeOfADeviceArrivesWhereMpiCountsAreSmall) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const Folding folding : {Folding::fold, Folding::keep}) {
      for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
        expect_every_mode_arrives(plan_case, comm(), 2, 3, route,
                                  {.folding = folding, .mpi_count_limit = 1000});
      }
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesStraightFromTheDevice) {
  for (const PlanCase& plan_case : small_cases())
    expect_every_mode_arrives(plan_case, comm(), 2, 2, DeviceRoute::direct, {});
}

TEST_P(OnEveryRankCount, StagingHoldsOnlyModesOfOtherRanks) {
  const PlanCase plan_case("", RingGrid::healpix(32), 95, 95, 0);
  Staged staged(plan_case, comm(), 2, 4, DeviceRoute::staged, {});
  const std::int64_t own = staged.whole.by_ring_blocks[to_size(comm().rank())].count;
  const std::int64_t positions = staged.plan.all_slots() + staged.plan.by_ring_size - own;
  EXPECT_EQ(staged.device->staged_bytes, comm().size() == 1 ? 0 : 16 * 2 * positions);
  EXPECT_EQ(staged.exchange.bytes().pinned, staged.device->staged_bytes);
  EXPECT_EQ(staged.device->buffer_bytes, 0);

  const Staged direct(plan_case, comm(), 2, 4, DeviceRoute::direct, {});
  EXPECT_EQ(direct.device->staged_bytes, 0);
  EXPECT_EQ(direct.exchange.bytes().pinned, 0);

  const Staged single(plan_case, comm(), 2, 4, DeviceRoute::staged, in_single_precision);
  EXPECT_EQ(single.device->staged_bytes, staged.device->staged_bytes / 2);
  EXPECT_EQ(single.exchange.bytes().device, single.device->buffer_bytes);
  EXPECT_EQ(single.exchange.bytes().device, comm().size() == 1 ? 0 : 8 * 2 * positions);
  EXPECT_EQ(2 * single.exchange.bytes_sent(), staged.exchange.bytes_sent());
}

/// Labels of one component are whole numbers, which are exact in single precision.
TEST_P(OnEveryRankCount, EveryModeArrivesInSinglePrecision) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
      for (const int n_passes : {1, 3}) {
        expect_every_mode_arrives(plan_case, comm(), 1, 3, route, in_single_precision, n_passes);
        expect_every_mode_arrives(plan_case, comm(), 1, 3, route,
                                  {.precision = ModePrecision::single_, .mpi_count_limit = 1000},
                                  n_passes);
      }
    }
  }
}

const auto do_nothing = [](const OrderPasses::Part&) {};

TEST_P(OnEveryRankCount, EveryModeIsRoundedOnceWhereverItGoes) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
    Staged staged(plan_case, comm(), 1, 2, route, in_single_precision);
    std::fill(staged.modes.begin(), staged.modes.end(), Value(1 + 1e-12, -1.0 / 3));
    exchange_to_rings(staged.exchange, staged.plan, staged.memory, do_nothing);
    staged.device->wait_for_work();
    for_each_mode(staged.whole.by_ring, 1, [&](std::int64_t i, Value) {
      EXPECT_EQ(staged.modes[i], Value(1, static_cast<float>(-1.0 / 3)));
    });
    EXPECT_NO_THROW(staged.exchange.require_range());
  }
}

TEST_P(OnEveryRankCount, AModeTooLargeForSinglePrecisionIsADataErrorOnAllRanks) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  Staged staged(plan_case, comm(), 1, 2, DeviceRoute::staged, in_single_precision);
  std::fill(staged.modes.begin(), staged.modes.end(), Value(1, 1));
  for_each_mode(staged.plan.by_order, 1, [&](std::int64_t i, Value) {
    if (comm().rank() == comm().size() - 1) staged.modes[i] = {0, -1e39};
  });
  exchange_to_rings(staged.exchange, staged.plan, staged.memory, do_nothing);
  EXPECT_THROW(staged.exchange.require_range(), DataError);
  EXPECT_NO_THROW(staged.exchange.require_range()) << "what was rounded before counts once";
}

}  // namespace
}  // namespace ringweave::detail::test
