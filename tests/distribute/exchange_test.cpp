// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "base/buffer.hpp"
#include "mode_labels.hpp"
#include "plan_cases.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::test {
namespace {

struct Planned {
  ExchangePlan plan;
  Planned(const PlanCase& plan_case, const Communicator& comm, std::int64_t n_components,
          const ExchangeOptions& options)
      : plan(plan_exchange(plan_case.limits, plan_case.fold, plan_case.orders(comm.size()),
                           plan_case.rings(comm.size()), comm.rank(), n_components, options)) {}
};

void expect_every_mode_arrives(const PlanCase& plan_case, const Communicator& comm,
                               std::int64_t n_components, const ExchangeOptions& options) {
  SCOPED_TRACE(plan_case.name);
  const ExchangePlan plan = Planned(plan_case, comm, n_components, options).plan;
  const Exchange exchange(comm, plan, n_components);

  HostBuffer<Value> by_order = buffer_for(plan.by_order, n_components);
  HostBuffer<Value> by_ring = buffer_for(plan.by_ring, n_components);
  for_each_mode(plan.by_order, n_components,
                [&](std::int64_t i, Value value) { by_order[i] = value; });
  exchange.orders_to_rings(view_of(by_order), view_of(by_ring));
  EXPECT_EQ(count_wrong(plan.by_ring, n_components, by_ring), 0);

  std::fill(by_order.begin(), by_order.end(), untouched);
  exchange.rings_to_orders(view_of(by_ring), view_of(by_order));
  EXPECT_EQ(count_wrong(plan.by_order, n_components, by_order), 0);
}

TEST_P(OnEveryRankCount, EveryModeArrivesWhereItBelongsAndComesBack) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const std::int64_t n_components : {1, 3}) {
      for (const Folding folding : {Folding::fold, Folding::keep}) {
        expect_every_mode_arrives(plan_case, comm(), n_components, {.folding = folding});
      }
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesInBlocksWhereMpiCountsAreSmall) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const std::int64_t n_components : {1, 3}) {
      expect_every_mode_arrives(plan_case, comm(), n_components,
                                {.mpi_count_limit = 1000, .block_bytes = 4096});
    }
  }
}

TEST_P(OnEveryRankCount, BytesSentAreThePlannedVolume) {
  const PlanCase plan_case("", RingGrid::healpix(32), 95, 95, 0);
  const Exchange exchange(comm(), Planned(plan_case, comm(), 2, {}).plan, 2);
  const ExchangeVolume volume =
      exchange_volume(plan_case.limits, plan_case.fold, plan_case.orders(comm().size()),
                      plan_case.rings(comm().size()));
  EXPECT_EQ(exchange.bytes_sent(), volume.sent(comm().rank()) * 2 * 16);
}

TEST_P(OnEveryRankCount, BuffersOfTheWrongSizeAreRefused) {
  const PlanCase plan_case("", RingGrid::healpix(4), 11, 11, 0);
  const ExchangePlan plan = Planned(plan_case, comm(), 1, {}).plan;
  const Exchange exchange(comm(), plan, 1);
  HostBuffer<Value> by_order(plan.by_order.size() + 1);
  HostBuffer<Value> by_ring(plan.by_ring.size());
  EXPECT_THROW(exchange.orders_to_rings(view_of(by_order), view_of(by_ring)), UsageError);
  EXPECT_THROW(exchange.rings_to_orders(view_of(by_ring), view_of(by_order)), UsageError);
}

TEST_P(OnEveryRankCount, PlansThatDoNotFitAreRefusedByAllRanks) {
  if (comm().size() == 1) return;
  const int lmax = comm().rank() == comm().size() - 1 ? 10 : 11;
  const PlanCase plan_case("", RingGrid::healpix(8), lmax, lmax, 0);
  EXPECT_THROW(Exchange(comm(), Planned(plan_case, comm(), 1, {}).plan, 1), UsageError);
}

TEST(Exchange, OnOneRankASharedBufferIsLeftAlone) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const Communicator self = Communicator::self();
  const ExchangePlan plan = Planned(plan_case, self, 1, {}).plan;
  const Exchange exchange(self, plan, 1);
  HostBuffer<Value> modes = buffer_for(plan.by_order, 1);
  exchange.orders_to_rings(view_of(modes), view_of(modes));
  EXPECT_TRUE(std::all_of(modes.begin(), modes.end(), [](Value v) { return v == untouched; }));
  EXPECT_EQ(exchange.bytes_sent(), 0);
}

}  // namespace
}  // namespace ringweave::test
