// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/ring_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan_cases.hpp"
#include "ringweave/error.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

/// Identifies a pixel, exactly in single precision too: a wrong route shows as a wrong number.
template <class T>
void fill(const LocalRings& rings, int first, MapBuffer<T>& map) {
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    T* value = map.view().component(c).data();
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const std::int64_t ring = index(rings.global(LocalRing{r}));
      for (std::int64_t i = 0; i < rings.ring(LocalRing{r}).n_phi; ++i)
        *value++ = static_cast<T>(static_cast<float>((ring * 512 + i) * 8 + c + first));
    }
  }
}

template <class T>
void expect_equal(const MapBuffer<T>& map, const MapBuffer<T>& expected, T factor) {
  std::int64_t wrong = 0;
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    for (std::int64_t i = 0; i < map.size(); ++i)
      wrong += map.view().component(c)[i] == factor * expected.view().component(c)[i] ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

/// Transfers twice, with overwriting and with adding.
template <class T>
void expect_every_pixel_arrives(const Communicator& comm, const RingDistribution& before,
                                const RingDistribution& after, std::int64_t n_maps,
                                std::int64_t message_bytes) {
  const LocalRings old_rings = before.rings(comm.rank());
  const LocalRings new_rings = after.rings(comm.rank());
  MapBuffer<T> from(n_maps, old_rings.n_pixels());
  MapBuffer<T> to(n_maps, new_rings.n_pixels());
  MapBuffer<T> expected(n_maps, new_rings.n_pixels());
  fill(old_rings, 1, from);
  fill(new_rings, 1, expected);
  RingTransfer there(comm, before, after, n_maps, {Arrival::overwrite, message_bytes});
  RingTransfer onto(comm, before, after, n_maps, {Arrival::add, message_bytes});
  there.move<T>(from.view(), to.view());
  expect_equal(to, expected, T{1});
  onto.move<T>(from.view(), to.view());
  expect_equal(to, expected, T{2});
}

TEST_P(OnEveryRankCount, EveryPixelArrivesWhicheverGroupsTheRanksForm) {
  for (const PlanCase& plan_case : small_cases()) {
    for (int n_first = 1; n_first < comm().size(); ++n_first) {
      SCOPED_TRACE(plan_case.name + ", " + std::to_string(n_first));
      const RingDistribution first(plan_case.single_bands(n_first), 0, comm().size());
      const RingDistribution last(plan_case.rings(comm().size() - n_first), n_first, comm().size());
      expect_every_pixel_arrives<double>(comm(), first, last, 1, 1 << 20);
      expect_every_pixel_arrives<float>(comm(), last, first, 3, 1 << 20);
    }
  }
}

TEST_P(OnEveryRankCount, EveryPixelArrivesInPartsWhereMessagesAreSmall) {
  const PlanCase plan_case("", RingGrid::healpix(16), 32, 32, 0);
  for (int n_first = 1; n_first < comm().size(); ++n_first) {
    const RingDistribution first(plan_case.single_bands(n_first), 0, comm().size());
    const RingDistribution last(plan_case.rings(comm().size() - n_first), n_first, comm().size());
    expect_every_pixel_arrives<double>(comm(), first, last, 2, 100);
    expect_every_pixel_arrives<float>(comm(), last, first, 2, 8);
  }
}

TEST_P(OnEveryRankCount, RanksMayOwnRingsBeforeAndAfter) {
  for (const PlanCase& plan_case : small_cases()) {
    const RingDistribution one = plan_case.single_bands(comm().size());
    const RingDistribution other = plan_case.rings(comm().size());
    expect_every_pixel_arrives<double>(comm(), one, other, 2, 1000);
    expect_every_pixel_arrives<float>(comm(), one, one, 1, 1 << 20);
  }
}

TEST_P(OnEveryRankCount, BuffersAreThereOnlyWhereSomethingIsAdded) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const RingDistribution all = plan_case.rings(comm().size());
  const RingDistribution root(plan_case.rings(1), 0, comm().size());
  const RingTransferPlan plan = plan_ring_transfer(all, root, comm().rank());
  const std::int64_t two = comm().is_root() ? 2000 : 0;
  EXPECT_EQ(RingTransfer::buffer_bytes(plan, {Arrival::add, 1000}), two);
  EXPECT_EQ(RingTransfer::buffer_bytes(plan, {Arrival::overwrite, 1000}), 0);
}

TEST_P(OnEveryRankCount, TransfersThatDoNotFitAreRefusedByAllRanks) {
  const PlanCase plan_case("", RingGrid::healpix(8), 16, 16, 0);
  const RingDistribution rings = plan_case.rings(comm().size());
  const RingDistribution more = plan_case.rings(comm().size() + 1);
  EXPECT_THROW(RingTransfer(comm(), more, more, 1), UsageError);
  EXPECT_THROW(RingTransfer(comm(), rings, rings, -1), UsageError);
  EXPECT_THROW(RingTransfer(comm(), rings, rings, 1, {Arrival::add, 0}), UsageError);
  const bool last = comm().rank() == comm().size() - 1;
  if (comm().size() > 1) {
    EXPECT_THROW(RingTransfer(comm(), rings, rings, last ? 2 : 1), UsageError);
    const RingDistribution reversed(plan_case.single_bands(comm().size()), 0, comm().size());
    EXPECT_THROW(RingTransfer(comm(), last ? reversed : rings, rings, 1), UsageError);
  }
  RingTransfer transfer(comm(), rings, rings, 1);
  const std::int64_t n = rings.rings(comm().rank()).n_pixels();
  MapBuffer<double> from(1, n + (last ? 1 : 0));
  MapBuffer<double> to(1, n);
  EXPECT_THROW(transfer.move<double>(from.view(), to.view()), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
