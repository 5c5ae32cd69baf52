// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/mode_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "base/buffer.hpp"
#include "plan_cases.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::test {
namespace {

using Value = std::complex<double>;

/// What identifies a mode, exactly in single precision too: a wrong route shows as a wrong number.
Value label(int m, std::int64_t ring, std::int64_t component) {
  return {m + 0.125 * static_cast<double>(component), static_cast<double>(ring)};
}

/// Calls visit(element of the buffer or of its two pieces, its label) for every mode of the rows of
/// a pass.
template <class Visit>
void for_each_mode(const ModeLayout& layout, const OrderPasses::Pass& pass,
                   std::int64_t n_components, const Visit& visit) {
  for (std::int64_t i = 0; i < ssize64(layout.rows()); ++i) {
    const ModeLayout::Row& row = layout.rows()[to_size(i)];
    const std::int64_t leader = row.fold_into < 0 ? i : row.fold_into;
    if (leader < pass.first_row || leader >= pass.first_row + pass.n_rows) continue;
    for (const RowSegment& segment : layout.segments(row)) {
      for (std::int64_t k = 0; k < segment.rings.size(); ++k) {
        for (std::int64_t c = 0; c < n_components; ++c)
          visit((segment.first + k) * n_components + c, label(row.m, segment.rings.begin + k, c));
      }
    }
  }
}

OrderPasses::Pass every_row(const ModeLayout& layout) {
  return {0, ssize64(layout.rows()), {}, {}, {}};
}

struct Problem {
  ExchangePlan whole;
  OrderPasses plan;
  HostBuffer<Value> by_ring;
  HostBuffer<Value> slots;
  ModeView<double> ring_view;
  ModeView<double> slot_view;

  Problem(const PlanCase& plan_case, const Communicator& comm, std::int64_t n_components,
          const ExchangeOptions& options, int n_passes)
      : whole(plan_exchange(plan_case.limits, plan_case.fold, plan_case.orders(comm.size()),
                            plan_case.rings(comm.size()), comm.rank(), n_components, options)),
        plan(plan_order_passes(
            plan_case.limits, plan_case.fold, plan_case.orders(comm.size()),
            plan_case.rings(comm.size()), comm.rank(), whole,
            {options.folding, n_passes, options.schedule == ExchangeSchedule::overlapped ? 2 : 1})),
        by_ring(plan.by_ring_size * n_components),
        slots(plan.all_slots() * n_components),
        ring_view(by_ring.data(), by_ring.size()),
        slot_view(slots.data(), slots.size()) {
    std::fill(by_ring.begin(), by_ring.end(), Value{-7, -7});
    std::fill(slots.begin(), slots.end(), Value{-7, -7});
  }
  /// As plan.by_order counts them.
  Value& by_order(std::int64_t i) { return *ModePieces<double>(ring_view, slot_view).at(i); }
};

void expect_every_mode_arrives(const PlanCase& plan_case, const Communicator& comm,
                               const ExchangeOptions& options, std::int64_t n_components,
                               int n_passes) {
  SCOPED_TRACE(plan_case.name);
  Problem problem(plan_case, comm, n_components, options, n_passes);
  ModeExchange exchange(comm, problem.plan, n_components, options);
  ASSERT_EQ(exchange.n_passes(), n_passes);
  std::int64_t wrong = 0;

  for (int pass = 0; pass < n_passes; ++pass) {
    if (pass >= exchange.n_slots()) exchange.end(pass - exchange.n_slots());
    for_each_mode(problem.plan.by_order, problem.plan.passes[to_size(pass)], n_components,
                  [&](std::int64_t i, Value value) { problem.by_order(i) = value; });
    exchange.begin_orders_to_rings(pass, problem.slot_view, problem.ring_view);
    exchange.progress();
  }
  for (int pass = std::max(0, n_passes - exchange.n_slots()); pass < n_passes; ++pass)
    exchange.end(pass);
  for_each_mode(problem.whole.by_ring, every_row(problem.whole.by_ring), n_components,
                [&](std::int64_t i, Value value) { wrong += problem.by_ring[i] != value; });
  EXPECT_EQ(wrong, 0);

  std::fill(problem.slots.begin(), problem.slots.end(), Value{-7, -7});
  for (int pass = 0; pass < n_passes; ++pass) {
    exchange.begin_rings_to_orders(pass, problem.ring_view, problem.slot_view);
    exchange.progress();
    exchange.end(pass);
    for_each_mode(problem.plan.by_order, problem.plan.passes[to_size(pass)], n_components,
                  [&](std::int64_t i, Value value) { wrong += problem.by_order(i) != value; });
  }
  EXPECT_EQ(wrong, 0);
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
    options.block_bytes = 16384;
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
      const ModeExchange exchange(comm(), problem.plan, 2, options);
      EXPECT_EQ(exchange.bytes_sent(),
                volume.sent(comm().rank()) * 2 * (precision == ModePrecision::single_ ? 8 : 16));
    }
  }
}

TEST_P(OnEveryRankCount, BuffersOfTheWrongSizeAreRefused) {
  const PlanCase plan_case("", RingGrid::healpix(4), 11, 11, 0);
  const Problem problem(plan_case, comm(), 1, {}, 1);
  ModeExchange exchange(comm(), problem.plan, 1, {});
  HostBuffer<Value> longer(problem.by_ring.size() + 1);
  const ModeView<double> wrong(longer.data(), longer.size());
  EXPECT_THROW(exchange.begin_orders_to_rings(0, problem.slot_view, wrong), UsageError);
  EXPECT_THROW(exchange.begin_rings_to_orders(0, wrong, problem.slot_view), UsageError);
}

TEST(ModeExchange, OnOneRankModesAreLeftAlone) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const Problem problem(plan_case, Communicator::self(), 1, {}, 1);
  ModeExchange exchange(Communicator::self(), problem.plan, 1, {});
  EXPECT_EQ(problem.slots.size(), 0);
  exchange.begin_orders_to_rings(0, problem.slot_view, problem.ring_view);
  exchange.end(0);
  exchange.begin_rings_to_orders(0, problem.ring_view, problem.slot_view);
  exchange.end(0);
  EXPECT_TRUE(std::all_of(problem.by_ring.begin(), problem.by_ring.end(), [](Value value) {
    return value == Value{-7, -7};
  }));
  EXPECT_EQ(exchange.bytes_sent(), 0);
}

TEST_P(OnEveryRankCount, ModesTooLargeForSinglePrecisionAreRefusedByAllRanks) {
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const ExchangeOptions options{.precision = ModePrecision::single_};
  Problem problem(plan_case, comm(), 1, options, 2);
  ModeExchange exchange(comm(), problem.plan, 1, options);
  const Value value = comm().rank() == comm().size() - 1 ? Value{1, -1e39} : Value{1, 1};
  std::fill(problem.by_ring.begin(), problem.by_ring.end(), value);
  std::fill(problem.slots.begin(), problem.slots.end(), value);
  exchange.begin_orders_to_rings(0, problem.slot_view, problem.ring_view);
  exchange.end(0);
  EXPECT_THROW(exchange.require_range(), DataError);
  EXPECT_NO_THROW(exchange.require_range());
}

TEST_P(OnEveryRankCount, PassesThatDoNotFitAreRefusedByAllRanks) {
  if (comm().size() == 1) return;
  const PlanCase plan_case("", RingGrid::healpix(8), 23, 23, 0);
  const bool last = comm().rank() == comm().size() - 1;
  const Problem other(plan_case, comm(), 1, {}, last ? 3 : 4);
  EXPECT_THROW(ModeExchange(comm(), other.plan, 1, {}), UsageError);
  const PlanCase other_case("", RingGrid::healpix(8), last ? 22 : 23, last ? 22 : 23, 0);
  for (const int n_passes : {1, 4}) {
    const Problem different(other_case, comm(), 1, {}, n_passes);
    EXPECT_THROW(ModeExchange(comm(), different.plan, 1, {}), UsageError);
  }
}

}  // namespace
}  // namespace ringweave::test
