// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "plan_cases.hpp"
#include "ringweave/views.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

/// Identifies a value, exactly in single precision too: a wrong route shows as a wrong number.
template <class T>
T label(std::int64_t ring, std::int64_t i, std::int64_t component, int round) {
  const std::int64_t number = (ring * 512 + i) * 8 + component + 4 * round;
  return static_cast<T>(static_cast<float>(number));
}

/// Components of own rings and of the halo, each followed by guard values that must not change.
template <class T>
struct Buffers {
  static constexpr std::int64_t room = 3;
  std::int64_t n_components;
  HaloPlan plan;
  HostBuffer<T> own;
  HostBuffer<T> halo;
  const T untouched = static_cast<T>(-7.0F);

  Buffers(const HaloPlan& some_plan, std::int64_t components)
      : n_components(components),
        plan(some_plan),
        own((plan.own_size + room) * components),
        halo((plan.halo_size + room) * components) {
    clear();
  }
  void clear() {
    std::fill(own.begin(), own.end(), untouched);
    std::fill(halo.begin(), halo.end(), untouched);
  }
  ComponentView<T> own_view() {
    return {own.data(), n_components, plan.own_size, plan.own_size + room};
  }
  ComponentView<T> halo_view() {
    return {halo.data(), n_components, plan.halo_size, plan.halo_size + room};
  }

  void fill_own(const LocalRings& rings, const RingPayload& payload, int round) {
    for (std::int64_t c = 0; c < n_components; ++c) {
      T* value = own_view().component(c).data();
      for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
        const RingId ring = rings.global(LocalRing{r});
        for (std::int64_t i = 0; i < payload.values(ring); ++i) {
          *value++ = label<T>(index(ring), i, c, round);
        }
      }
    }
  }

  std::int64_t count_wrong(const RingPayload& payload, int round) {
    std::int64_t wrong = 0;
    std::int64_t checked = 0;
    for (std::int64_t c = 0; c < n_components; ++c) {
      const View<T> values = halo_view().component(c);
      for (std::int64_t r = 0; r < payload.n_rings(); ++r) {
        if (!plan.contains(RingId{r})) continue;
        for (std::int64_t i = 0; i < payload.values(RingId{r}); ++i, ++checked) {
          wrong += values[plan.first(RingId{r}) + i] != label<T>(r, i, c, round) ? 1 : 0;
        }
      }
    }
    wrong += checked != plan.halo_size * n_components ? 1 : 0;
    wrong += std::count(halo.begin(), halo.end(), untouched) != room * n_components ? 1 : 0;
    return wrong;
  }
};

struct HaloProblem {
  RingDistribution rings;
  RingPayload payload;
  HaloPlan plan;
  LocalRings local;

  HaloProblem(const PlanCase& plan_case, const Communicator& comm, double support,
              const RingPayload& some_payload)
      : rings(plan_case.rings(comm.size())),
        payload(some_payload),
        plan(plan_halo(rings, comm.rank(), support, payload)),
        local(rings.rings(comm.rank())) {}
};

template <class T>
void expect_every_ring_arrives(const HaloProblem& problem, const Communicator& comm,
                               std::int64_t n_components, const HaloOptions& options) {
  HaloExchange exchange(comm, problem.plan, n_components, options);
  Buffers<T> buffers(problem.plan, n_components);
  for (const int round : {0, 1}) {
    buffers.clear();
    buffers.fill_own(problem.local, problem.payload, round);
    exchange.begin(buffers.own_view(), buffers.halo_view());
    exchange.progress();
    exchange.end();
    EXPECT_EQ(buffers.count_wrong(problem.payload, round), 0);
    EXPECT_EQ(exchange.bytes_sent(), problem.plan.sent_bytes(n_components, sizeof(T)));
  }
}

const std::vector<double> supports{0, 0.05, 0.5, 2, std::numbers::pi};

TEST_P(OnEveryRankCount, EveryHaloRingArrivesWhereThePlanSays) {
  for (const PlanCase& plan_case : small_cases()) {
    for (const double support : supports) {
      SCOPED_TRACE(plan_case.name + ", support " + std::to_string(support));
      const HaloProblem pixels(plan_case, comm(), support, RingPayload::pixels(*plan_case.grid));
      expect_every_ring_arrives<double>(pixels, comm(), 1, {});
      expect_every_ring_arrives<float>(pixels, comm(), 3, {});
      const HaloProblem modes(plan_case, comm(), support, RingPayload::modes(*plan_case.grid));
      expect_every_ring_arrives<double>(modes, comm(), 2, {});
      expect_every_ring_arrives<float>(modes, comm(), 1, {});
    }
  }
}

TEST_P(OnEveryRankCount, EveryHaloRingArrivesInPartsWhereMessagesAreSmall) {
  for (const PlanCase& plan_case : small_cases()) {
    if (plan_case.grid->n_pixels() > 20000) continue;
    for (const double support : {0.1, std::numbers::pi}) {
      SCOPED_TRACE(plan_case.name + ", support " + std::to_string(support));
      const HaloProblem problem(plan_case, comm(), support, RingPayload::modes(*plan_case.grid));
      expect_every_ring_arrives<double>(problem, comm(), 2, {.message_bytes = 100});
      expect_every_ring_arrives<float>(problem, comm(), 1, {.message_bytes = 1000});
    }
  }
  const PlanCase smallest("", RingGrid::healpix(2), 5, 5, 0);
  const HaloProblem problem(smallest, comm(), 1, RingPayload::pixels(*smallest.grid));
  expect_every_ring_arrives<double>(problem, comm(), 1, {.message_bytes = 1});
}

TEST_P(OnEveryRankCount, RingsWithoutValuesTravelToo) {
  const PlanCase plan_case("", RingGrid::healpix(16), 32, 32, 0);
  std::vector<std::int64_t> values;
  for (std::int64_t r = 0; r < plan_case.grid->n_rings(); ++r) values.push_back(r * r % 5);
  const HaloProblem problem(plan_case, comm(), 0.4, RingPayload(values));
  expect_every_ring_arrives<double>(problem, comm(), 2, {});
  const HaloProblem nothing(plan_case, comm(), 0.4,
                            RingPayload(std::vector<std::int64_t>(values.size(), 0)));
  expect_every_ring_arrives<float>(nothing, comm(), 2, {});
  expect_every_ring_arrives<float>(problem, comm(), 0, {});
}

TEST_P(OnEveryRankCount, AllThatIsSentIsAllThatIsReceivedAndPlanned) {
  const PlanCase plan_case("", RingGrid::healpix(32), 64, 64, 0);
  const HaloProblem problem(plan_case, comm(), 0.3, RingPayload::pixels(*plan_case.grid));
  HaloExchange exchange(comm(), problem.plan, 2);
  Buffers<double> buffers(problem.plan, 2);
  exchange.begin(buffers.own_view(), buffers.halo_view());
  exchange.end();
  EXPECT_EQ(comm().sum(exchange.bytes_sent()), comm().sum(problem.plan.halo_bytes(2, 8)));
  EXPECT_EQ(comm().sum(exchange.bytes_sent()) > 0, comm().size() > 1);
}

TEST_P(OnEveryRankCount, TwoExchangesMayBeUnderWayOnOneCommunicator) {
  const PlanCase plan_case("", RingGrid::healpix(32), 64, 64, 0);
  const HaloProblem near(plan_case, comm(), 0.1, RingPayload::pixels(*plan_case.grid));
  const HaloProblem far(plan_case, comm(), 2, RingPayload::modes(*plan_case.grid));
  HaloExchange near_exchange(comm(), near.plan, 2);
  HaloExchange far_exchange(comm(), far.plan, 1);
  Buffers<float> near_buffers(near.plan, 2);
  Buffers<double> far_buffers(far.plan, 1);
  near_buffers.fill_own(near.local, near.payload, 0);
  far_buffers.fill_own(far.local, far.payload, 1);
  near_exchange.begin(near_buffers.own_view(), near_buffers.halo_view());
  far_exchange.begin(far_buffers.own_view(), far_buffers.halo_view());
  far_exchange.end();
  near_exchange.end();
  EXPECT_EQ(near_buffers.count_wrong(near.payload, 0), 0);
  EXPECT_EQ(far_buffers.count_wrong(far.payload, 1), 0);
}

TEST_P(OnEveryRankCount, WorkRunsWhileTheHaloMoves) {
  const PlanCase plan_case("", RingGrid::healpix(32), 64, 64, 0);
  const HaloProblem problem(plan_case, comm(), 0.3, RingPayload::pixels(*plan_case.grid));
  HaloExchange exchange(comm(), problem.plan, 1);
  Buffers<double> buffers(problem.plan, 1);
  buffers.fill_own(problem.local, problem.payload, 0);
  int done = 0;
  exchange.run(buffers.own_view(), buffers.halo_view(), [&] {
    for (; done < 10; ++done) exchange.progress();
  });
  EXPECT_EQ(done, 10);
  EXPECT_EQ(buffers.count_wrong(problem.payload, 0), 0);
}

TEST_P(OnEveryRankCount, BuffersOfAnotherShapeAreRefused) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const HaloProblem problem(plan_case, comm(), 0.3, RingPayload::pixels(*plan_case.grid));
  HaloExchange exchange(comm(), problem.plan, 1);
  Buffers<double> fitting(problem.plan, 1);
  Buffers<double> two(problem.plan, 2);
  EXPECT_THROW(exchange.begin(two.own_view(), fitting.halo_view()), UsageError);
  EXPECT_THROW(exchange.begin(fitting.own_view(), two.halo_view()), UsageError);
  const ComponentView<double> longer(two.own.data(), 1, problem.plan.own_size + 1);
  EXPECT_THROW(exchange.begin(longer, fitting.halo_view()), UsageError);
}

TEST_P(OnEveryRankCount, ASecondBeginIsRefusedUntilTheFirstHasEnded) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const HaloProblem problem(plan_case, comm(), 0.3, RingPayload::pixels(*plan_case.grid));
  HaloExchange exchange(comm(), problem.plan, 1);
  Buffers<double> buffers(problem.plan, 1);
  buffers.fill_own(problem.local, problem.payload, 0);
  exchange.begin(buffers.own_view(), buffers.halo_view());
  EXPECT_THROW(exchange.begin(buffers.own_view(), buffers.halo_view()), UsageError);
  exchange.end();
  EXPECT_EQ(buffers.count_wrong(problem.payload, 0), 0);
}

TEST_P(OnEveryRankCount, HaloPlansThatDoNotFitAreRefusedByAllRanks) {
  if (comm().size() == 1) return;
  const PlanCase plan_case("", RingGrid::gauss_legendre(64, 16), 63, 63, 0);
  const RingPayload payload = RingPayload::pixels(*plan_case.grid);
  const bool last = comm().rank() == comm().size() - 1;
  const auto plan = [&](int rank, int n_ranks, double support) {
    return plan_halo(plan_case.rings(n_ranks), rank, support, payload);
  };
  const int rank = comm().rank();
  const int size = comm().size();
  const HaloPlan mine = plan(rank, size, 0.2);
  EXPECT_THROW(HaloExchange(comm(), plan(rank, size, last ? 0.3 : 0.2), 1), UsageError);
  EXPECT_THROW(HaloExchange(comm(), plan(last ? 0 : rank, size, 0.2), 1), UsageError);
  EXPECT_THROW(HaloExchange(comm(), plan(rank, size + 1, 0.2), 1), UsageError);
  EXPECT_THROW(HaloExchange(comm(), mine, last ? 2 : 1), UsageError);
  EXPECT_THROW(HaloExchange(comm(), mine, 1, {.message_bytes = last ? 64 : 128}), UsageError);
  EXPECT_THROW(HaloExchange(comm(), mine, last ? -1 : 1), UsageError);
  EXPECT_THROW(HaloExchange(comm(), mine, 1, {.message_bytes = last ? 0 : 128}), UsageError);

  // As many values, but of another ring.
  HaloPlan moved = mine;
  if (last) {
    ++moved.sends.front().rings.begin;
    ++moved.sends.front().rings.end;
  }
  EXPECT_THROW(HaloExchange(comm(), moved, 1), UsageError);
  EXPECT_NO_THROW(HaloExchange(comm(), mine, 1));
}

TEST(HaloExchange, OnOneRankNothingMovesAndErrorsOfTheWorkAreThrown) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const Communicator self = Communicator::self();
  const HaloProblem problem(plan_case, self, 4, RingPayload::pixels(*plan_case.grid));
  HaloExchange exchange(self, problem.plan, 1);
  Buffers<double> buffers(problem.plan, 1);
  EXPECT_THROW(exchange.run(buffers.own_view(), buffers.halo_view(),
                            [] { throw DataError("map", "not finite"); }),
               DataError);
  EXPECT_NO_THROW(exchange.run(buffers.own_view(), buffers.halo_view(), [] {}));
  EXPECT_EQ(exchange.bytes_sent(), 0);
}

}  // namespace
}  // namespace ringweave::detail::test
