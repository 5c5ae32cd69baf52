// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes passed to MPI equal the plan's, and memory equals its plan within 1 %.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "bench/sent_bytes.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::test {
namespace {

/// Returns the bytes this rank passes to MPI for others in a synthesis and in its adjoint.
std::pair<std::int64_t, std::int64_t> counted(SphericalHarmonicTransform& transform) {
  const std::int64_t before = mpi_bytes_sent();
  MapBuffer<double> map = synthesized(transform, random_alm(transform));
  const std::int64_t between = mpi_bytes_sent();
  adjoint_of(transform, map);
  return {between - before, mpi_bytes_sent() - between};
}

class ExchangeBytes : public testing::TestWithParam<ExchangeOptions> {};

TEST_P(ExchangeBytes, AreThoseOfThePlanAndOfTheModel) {
  const Communicator world = Communicator::world();
  for (const int lmax : {64, 95}) {
    for (const std::vector<int>& spins : {std::vector<int>{0}, {0, 2}}) {
      TransformSpec spec = Case{share(RingGrid::healpix(32)), lmax, lmax, spins}.spec();
      spec.exchange = GetParam();
      SphericalHarmonicTransform transform(world, spec);
      const std::int64_t exchanges_before = mpi_alltoallvs();
      const auto [synthesis, adjoint] = counted(transform);
      const bool is_in_passes = spec.exchange.schedule == ExchangeSchedule::overlapped ||
                                spec.exchange.precision == ModePrecision::single_;
      if (!is_in_passes) {
        EXPECT_EQ(mpi_alltoallvs() - exchanges_before, 2) << "one for each";
      }
      EXPECT_EQ(synthesis, transform.plan().bytes_sent());
      EXPECT_EQ(world.max(synthesis),
                TransformScaling(spec).shares(world.size()).largest.sent_bytes);
      EXPECT_EQ(world.sum(adjoint), world.sum(synthesis)) << "the same modes backwards";
    }
  }
}

/// Returns how often call() exchanges modes in one MPI_Alltoallv.
template <class Call>
std::int64_t exchanges_of(const Call& call) {
  const std::int64_t before = mpi_alltoallvs();
  call();
  return mpi_alltoallvs() - before;
}

TEST(Exchanges, OfMoreThanAMebibyteGoInOneUnlessAKeptMapLeavesNoMemory) {
  const Communicator world = Communicator::world();
  if (world.size() > 16) GTEST_SKIP() << "more ranks send less than a mebibyte each";
  for (const std::int64_t pass_bytes : {std::int64_t{1} << 20, std::int64_t{1} << 30}) {
    TransformSpec spec = Case{share(RingGrid::healpix(256)), 511, 511, {0, 2}}.spec();
    spec.pass_bytes = pass_bytes;
    SphericalHarmonicTransform transform(world, spec);
    const TransformPlan& plan = transform.plan();
    ASSERT_GT(world.max(plan.bytes_sent()), 1 << 20);
    const std::vector<double> weights(to_size(transform.rings().n_rings()), 1.0);
    AlmBuffer<double> alm = random_alm(transform);
    MapBuffer<double> map = transform.make_map<double>();
    EXPECT_EQ(exchanges_of([&] { transform.synthesize(alm, map); }), 1);
    // Passes of an adjoint are single messages.
    EXPECT_EQ(plan.n_passes > 1, pass_bytes == 1 << 20);
    const MapView<const double> kept = std::as_const(map).view();
    EXPECT_EQ(exchanges_of([&] { transform.adjoint<double>(kept, weights, alm.view()); }),
              plan.n_passes == 1 ? 1 : 0);
    const auto destroying = [&] {
      transform.adjoint_destroying<double>(map.view(), weights, alm.view());
    };
    EXPECT_EQ(exchanges_of(destroying), 1);
    const int passes = plan.n_passes_consuming;
    EXPECT_EQ(exchanges_of([&] { map = transform.synthesize(std::move(alm)); }), passes);
    EXPECT_EQ(exchanges_of([&] { alm = transform.adjoint(std::move(map), weights); }),
              passes == 1 ? 1 : 0);
  }
}

/// A degree, and the spins of the fields.
class ManyRanks : public testing::TestWithParam<std::pair<int, std::vector<int>>> {};

/// Measures memory beside the tables and scratch that a first transform leaves behind.
TEST_P(ManyRanks, HoldTheMemoryOfTheModelToAPercent) {
  const Communicator world = Communicator::world();
  const auto& [lmax, spins] = GetParam();
  const TransformSpec spec = Case{share(RingGrid::healpix(128)), lmax, lmax, spins}.spec();
  SphericalHarmonicTransform transform(world, spec);
  synthesized(transform, random_alm(transform));
  transform.release_workspace();
  const std::int64_t tables = MemoryMeter::current_bytes();
  MemoryMeter::reset_high_water();
  synthesized(transform, random_alm(transform));
  const auto held = static_cast<double>(MemoryMeter::high_water_bytes() - tables);
  const TransformShares shares = TransformScaling(spec).shares(world.size());
  EXPECT_NEAR(world.sum(held) / (shares.mean_bytes * world.size()), 1, 0.01);
  EXPECT_NEAR(world.max(held) / static_cast<double>(shares.largest_bytes), 1, 0.01);
}

using Spins = std::vector<int>;
INSTANTIATE_TEST_SUITE_P(Fields, ManyRanks,
                         testing::Values(std::pair{256, Spins{0}}, std::pair{256, Spins{0, 2}},
                                         std::pair{383, Spins{0}}, std::pair{383, Spins{0, 2}}));

INSTANTIATE_TEST_SUITE_P(Exchanges, ExchangeBytes,
                         testing::Values(ExchangeOptions{},
                                         ExchangeOptions{.folding = Folding::keep},
                                         ExchangeOptions{.schedule = ExchangeSchedule::overlapped},
                                         ExchangeOptions{.precision = ModePrecision::single_}));

}  // namespace
}  // namespace ringweave::detail::test
