// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_mode_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numbers>

#include "base/mode_view.hpp"
#include "plan_cases.hpp"
#include "ringweave/views.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

using Value = std::complex<double>;
constexpr Value untouched{-7, -7};

/// Identifies a mode: a wrong route shows as a wrong number.
Value mode_label(int m, std::int64_t ring, std::int64_t component, int round) {
  return {m + 0.125 * static_cast<double>(component), static_cast<double>(ring) + 0.5 * round};
}

/// Exchanged orders: all that a real ring has, as far as the grid's case keeps them.
RingPayload travelling_orders(const PlanCase& plan_case) {
  std::vector<std::int64_t> values;
  for (std::int64_t r = 0; r < plan_case.grid->n_rings(); ++r) {
    const std::int64_t kept = plan_case.limits.m_limit(RingId{r}) + 1;
    values.push_back(std::min(kept, plan_case.grid->ring(RingId{r}).n_phi / 2 + 1));
  }
  return RingPayload(values);
}

/// Rows of own and halo rings together, from north to south, which also keep orders that are not
/// exchanged; some positions are left free.
ModeLayout make_rows(const PlanCase& plan_case, const HaloPlan& plan, const LocalRings& own) {
  ModeLayout rows;
  std::int64_t next = 1;
  for (int m = 0; m <= plan_case.limits.mmax(); ++m) {
    rows.begin_row(m);
    const RingRange kept = plan_case.limits.kept(m);
    for (std::int64_t r = kept.begin; r < kept.end; ++r) {
      if (!own.owns(RingId{r}) && !plan.contains(RingId{r})) continue;
      next += r % 5 == 0 ? 1 : 0;
      rows.add_segment({r, r + 1}, next++);
    }
  }
  rows.set_size(next + 1);
  return rows;
}

struct ModeProblem {
  RingPayload orders;
  HaloPlan plan;
  LocalRings own;
  ModeLayout rows;

  ModeProblem(const PlanCase& plan_case, const Communicator& comm, double support)
      : orders(travelling_orders(plan_case)),
        plan(plan_halo(plan_case.rings(comm.size()), comm.rank(), support, orders)),
        own(plan_case.rings(comm.size()).rings(comm.rank())),
        rows(make_rows(plan_case, plan, own)) {}

  /// Calls visit(element, its label, whether the mode is own) for all modes of the rows.
  template <class Visit>
  void for_each_mode(std::int64_t n_components, int round, const Visit& visit) const {
    for (const ModeLayout::Row& row : rows.rows()) {
      for (const RowSegment& segment : rows.segments(row)) {
        for (std::int64_t r = segment.rings.begin; r < segment.rings.end; ++r) {
          const std::int64_t position = segment.first + r - segment.rings.begin;
          for (std::int64_t c = 0; c < n_components; ++c) {
            visit(position * n_components + c, mode_label(row.m, r, c, round), own.owns(RingId{r}),
                  row.m < orders.values(RingId{r}));
          }
        }
      }
    }
  }
};

void expect_every_mode_arrives(const PlanCase& plan_case, const Communicator& comm, double support,
                               std::int64_t n_components, const HaloOptions& options) {
  SCOPED_TRACE(plan_case.name + ", support " + std::to_string(support));
  const ModeProblem problem(plan_case, comm, support);
  HaloModeExchange exchange(comm, problem.plan, problem.rows, problem.orders, n_components,
                            options);
  HostBuffer<Value> modes(problem.rows.size() * n_components);
  for (const int round : {0, 1}) {
    std::fill(modes.begin(), modes.end(), untouched);
    problem.for_each_mode(n_components, round, [&](std::int64_t i, Value value, bool own, bool) {
      if (own) modes[i] = value;
    });
    exchange.begin(ModeView<double>(modes.data(), modes.size()));
    exchange.progress();
    exchange.end();
    std::int64_t wrong = 0;
    std::int64_t arrived = 0;
    std::int64_t in_place = 0;
    problem.for_each_mode(n_components, round,
                          [&](std::int64_t i, Value value, bool own, bool travels) {
                            wrong += modes[i] != (own || travels ? value : untouched) ? 1 : 0;
                            arrived += !own && travels ? 1 : 0;
                            in_place += own || travels ? 1 : 0;
                          });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(arrived, problem.plan.halo_size * n_components);
    EXPECT_EQ(modes.size() - std::count(modes.begin(), modes.end(), untouched), in_place);
    EXPECT_EQ(exchange.bytes_sent(), problem.plan.sent_bytes(n_components, 16));
  }
}

TEST_P(OnEveryRankCount, EveryHaloModeArrivesInItsRow) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const double support : {0.0, 0.05, 0.5, std::numbers::pi}) {
      expect_every_mode_arrives(plan_case, comm(), support, 1, {});
    }
    expect_every_mode_arrives(plan_case, comm(), 0.3, 3, {});
  }
}

TEST_P(OnEveryRankCount, EveryHaloModeArrivesInPartsWhereMessagesAreSmall) {
  for (const PlanCase& plan_case : small_cases()) {
    if (plan_case.grid->n_pixels() > 20000) continue;
    expect_every_mode_arrives(plan_case, comm(), 0.3, 1, {.message_bytes = 1000});
    expect_every_mode_arrives(plan_case, comm(), 2, 3, {.message_bytes = 1000});
  }
  const PlanCase smallest("", RingGrid::healpix(2), 5, 5, 0);
  expect_every_mode_arrives(smallest, comm(), 1, 2, {.message_bytes = 1});
  expect_every_mode_arrives(smallest, comm(), 1, 0, {});
}

TEST_P(OnEveryRankCount, HaloModesMoveWhileOthersAreWorkedOn) {
  const PlanCase plan_case("", RingGrid::healpix(32), 64, 64, 0);
  const ModeProblem problem(plan_case, comm(), 0.3);
  HaloModeExchange exchange(comm(), problem.plan, problem.rows, problem.orders, 1);
  HostBuffer<Value> modes(problem.rows.size());
  std::fill(modes.begin(), modes.end(), untouched);
  problem.for_each_mode(1, 0, [&](std::int64_t i, Value value, bool own, bool) {
    if (own) modes[i] = value;
  });
  exchange.begin(ModeView<double>(modes.data(), modes.size()));
  exchange.progress();
  EXPECT_THROW(exchange.begin(ModeView<double>(modes.data(), modes.size())), UsageError);
  exchange.end();
  EXPECT_EQ(comm().sum(exchange.bytes_sent()), comm().sum(problem.plan.halo_bytes(1, 16)));
}

TEST_P(OnEveryRankCount, RowsThatLackAModeOrDifferAreRefusedByAllRanks) {
  if (comm().size() == 1) return;
  const PlanCase plan_case("", RingGrid::healpix(32), 64, 64, 0);
  const ModeProblem problem(plan_case, comm(), 0.3);
  const bool last = comm().rank() == comm().size() - 1;
  const PlanCase fewer("", RingGrid::healpix(32), 64, last ? 60 : 64, 0);
  const ModeLayout rows = make_rows(fewer, problem.plan, problem.own);
  EXPECT_THROW(HaloModeExchange(comm(), problem.plan, rows, problem.orders, 1), UsageError);
  EXPECT_THROW(HaloModeExchange(comm(), problem.plan, problem.rows, problem.orders, last ? 2 : 1),
               UsageError);
  const RingPayload pixels = RingPayload::pixels(*plan_case.grid);
  EXPECT_THROW(HaloModeExchange(comm(), problem.plan, problem.rows, pixels, 1), UsageError);
  const ModeProblem wider(plan_case, comm(), last ? 0.4 : 0.3);
  EXPECT_THROW(HaloModeExchange(comm(), wider.plan, wider.rows, wider.orders, 1), UsageError);
  HaloModeExchange exchange(comm(), problem.plan, problem.rows, problem.orders, 1);
  HostBuffer<Value> longer(problem.rows.size() + 1);
  EXPECT_THROW(exchange.begin(ModeView<double>(longer.data(), longer.size())), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
