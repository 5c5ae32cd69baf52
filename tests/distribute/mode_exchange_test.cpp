// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/mode_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "base/checked_cast.hpp"
#include "exchange_steps.hpp"
#include "mode_labels.hpp"
#include "plan_cases.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

struct Problem {
  ExchangePlan whole;
  OrderPasses plan;
  HostBuffer<Value> by_ring;
  HostBuffer<Value> slots;
  ModeMemory modes;

  Problem(const PlanCase& plan_case, const Communicator& comm, std::int64_t n_components,
          const ExchangeOptions& options, int n_passes)
      : whole(plan_exchange(plan_case.limits, plan_case.fold, plan_case.orders(comm.size()),
                            plan_case.rings(comm.size()), comm.rank(), options.folding)),
        plan(plan_order_passes(plan_case.limits, plan_case.fold, plan_case.orders(comm.size()),
                               plan_case.rings(comm.size()), comm.rank(), whole,
                               {.folding = options.folding,
                                .n_passes = n_passes,
                                .n_slots = options.schedule == ExchangeSchedule::overlapped ? 2 : 1,
                                .n_parts = 2})),
        by_ring(plan.by_ring_size * n_components),
        slots(plan.all_slots() * n_components),
        modes{by_ring.data(), by_ring.size(), slots.data(), slots.size()} {
    std::fill(by_ring.begin(), by_ring.end(), untouched);
    std::fill(slots.begin(), slots.end(), untouched);
  }
  /// Returns a value by its position in plan.by_order.
  Value& by_order(std::int64_t i) {
    return i < by_ring.size() ? by_ring[i] : slots[i - by_ring.size()];
  }
};

ModeExchange host_exchange(const Communicator& comm, const Problem& problem,
                           std::int64_t n_components, const ExchangeOptions& options) {
  // The same on all ranks, as TransformPlan::countable().
  const bool countable = comm.max(std::max(problem.plan.by_order.size(),
                                           problem.plan.by_ring_size)) <= options.mpi_count_limit;
  ModeExchange exchange(comm, problem.plan, n_components, options,
                        make_host_transport(options.precision, countable));
  exchange.allocate();
  return exchange;
}

void expect_every_mode_arrives(const PlanCase& plan_case, const Communicator& comm,
                               const ExchangeOptions& options, std::int64_t n_components,
                               int n_passes) {
  SCOPED_TRACE(plan_case.name);
  Problem problem(plan_case, comm, n_components, options, n_passes);
  ModeExchange exchange = host_exchange(comm, problem, n_components, options);
  ASSERT_EQ(exchange.n_passes(), n_passes);
  const ModeLayout& by_order = problem.plan.by_order;
  std::int64_t wrong = 0;

  exchange_to_rings(exchange, problem.plan, problem.modes, [&](const OrderPasses::Part& part) {
    for_each_row(by_order, part, [&](const ModeLayout::Row& row) {
      for_each_mode_of_row(by_order, row, n_components,
                           [&](std::int64_t i, Value value) { problem.by_order(i) = value; });
    });
  });
  for_each_mode(problem.whole.by_ring, n_components,
                [&](std::int64_t i, Value value) { wrong += problem.by_ring[i] != value; });
  EXPECT_EQ(wrong, 0);

  std::fill(problem.slots.begin(), problem.slots.end(), untouched);
  std::int64_t n_rows = 0;
  exchange_to_orders(exchange, problem.plan, problem.modes, [&](const OrderPasses::Part& part) {
    for_each_row(by_order, part, [&](const ModeLayout::Row& row) {
      ++n_rows;
      for_each_mode_of_row(by_order, row, n_components, [&](std::int64_t i, Value value) {
        wrong += problem.by_order(i) != value;
      });
    });
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(n_rows, ssize64(by_order.rows()));
  EXPECT_NO_THROW(exchange.require_range());
}

std::vector<ExchangeOptions> all_modes() {
  std::vector<ExchangeOptions> modes;
  for (const Folding folding : {Folding::fold, Folding::keep}) {
    for (const ExchangeSchedule schedule :
         {ExchangeSchedule::whole, ExchangeSchedule::overlapped}) {
      for (const ModePrecision precision : {ModePrecision::double_, ModePrecision::single_})
        modes.push_back({.folding = folding, .schedule = schedule, .precision = precision});
    }
  }
  return modes;
}

TEST_P(OnEveryRankCount, EveryModeArrivesWhereItBelongsAndComesBack) {
  for (const ExchangeOptions& options : all_modes()) {
    for (const PlanCase& plan_case : small_cases()) {
      for (const std::int64_t n_components : {1, 3})
        expect_every_mode_arrives(plan_case, comm(), options, n_components, 1);
    }
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesInPassesAndComesBack) {
  for (const ExchangeOptions& options : all_modes()) {
    for (const PlanCase& plan_case : small_cases())
      expect_every_mode_arrives(plan_case, comm(), options, 3, 5);
  }
}

TEST_P(OnEveryRankCount, EveryModeArrivesWhereMpiCountsAreSmall) {
  for (ExchangeOptions options : all_modes()) {
    options.mpi_count_limit = 1000;
    for (const PlanCase& plan_case : small_cases()) {
      for (const int n_passes : {1, 5})
        expect_every_mode_arrives(plan_case, comm(), options, 3, n_passes);
    }
  }
}

TEST_P(OnEveryRankCount, PassesSendThePlannedVolume) {
  const PlanCase plan_case("", RingGrid::healpix(32), 95, 95, 0);
  const ExchangeVolume volume =
      exchange_volume(plan_case.limits, plan_case.fold, plan_case.orders(comm().size()),
                      plan_case.rings(comm().size()));
  for (const ModePrecision precision : {ModePrecision::double_, ModePrecision::single_}) {
    for (const int n_passes : {1, 4}) {
      const ExchangeOptions options{.precision = precision};
      const Problem problem(plan_case, comm(), 2, options, n_passes);
      const ModeExchange exchange = host_exchange(comm(), problem, 2, options);
      EXPECT_EQ(exchange.bytes_sent(),
                volume.sent(comm().rank()) * 2 * (precision == ModePrecision::single_ ? 8 : 16));
    }
  }
}

TEST_P(OnEveryRankCount, BuffersOfTheWrongSizeAreRefused) {
  const PlanCase plan_case("", RingGrid::healpix(4), 11, 11, 0);
  const Problem problem(plan_case, comm(), 1, {}, 1);
  ModeExchange exchange = host_exchange(comm(), problem, 1, {});
  ModeMemory longer = problem.modes;
  ++longer.n_by_ring;
  EXPECT_THROW(exchange.ready(0, longer), UsageError);
  longer = problem.modes;
  ++longer.n_slots;
  EXPECT_THROW(exchange.ready(0, longer), UsageError);
}

TEST(ModeExchange, OnOneRankModesAreLeftAlone) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const Problem problem(plan_case, Communicator::self(), 1, {}, 1);
  ModeExchange exchange = host_exchange(Communicator::self(), problem, 1, {});
  EXPECT_TRUE(exchange.is_idle());
  EXPECT_EQ(problem.slots.size(), 0);
  const auto nothing = [](const OrderPasses::Part&) {};
  exchange_to_rings(exchange, problem.plan, problem.modes, nothing);
  exchange_to_orders(exchange, problem.plan, problem.modes, nothing);
  EXPECT_TRUE(std::all_of(problem.by_ring.begin(), problem.by_ring.end(),
                          [](Value value) { return value == untouched; }));
  EXPECT_EQ(exchange.bytes_sent(), 0);
}

TEST_P(OnEveryRankCount, ModesTooLargeForSinglePrecisionAreRefusedByAllRanks) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const ExchangeOptions options{.precision = ModePrecision::single_};
  Problem problem(plan_case, comm(), 1, options, 2);
  ModeExchange exchange = host_exchange(comm(), problem, 1, options);
  const Value value = comm().rank() == comm().size() - 1 ? Value{1, -1e39} : Value{1, 1};
  std::fill(problem.by_ring.begin(), problem.by_ring.end(), value);
  std::fill(problem.slots.begin(), problem.slots.end(), value);
  exchange_to_rings(exchange, problem.plan, problem.modes, [](const OrderPasses::Part&) {});
  EXPECT_THROW(exchange.require_range(), DataError);
  EXPECT_NO_THROW(exchange.require_range());
}

TEST_P(OnEveryRankCount, PassesThatDoNotFitAreRefusedByAllRanks) {
  if (comm().size() == 1) return;
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const bool last = comm().rank() == comm().size() - 1;
  const Problem other(plan_case, comm(), 1, {}, last ? 3 : 4);
  EXPECT_THROW(host_exchange(comm(), other, 1, {}), UsageError);
  const PlanCase other_case("", RingGrid::healpix(8), last ? 22 : 23, last ? 22 : 23, 0);
  for (const int n_passes : {1, 4}) {
    const Problem different(other_case, comm(), 1, {}, n_passes);
    EXPECT_THROW(host_exchange(comm(), different, 1, {}), UsageError);
  }
  Problem of_fewer_ranks(plan_case, comm(), 1, {}, 1);
  if (last) of_fewer_ranks.plan.passes.front().by_order_blocks.pop_back();
  EXPECT_THROW(host_exchange(comm(), of_fewer_ranks, 1, {}), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
