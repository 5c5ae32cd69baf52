// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <utility>

#include "base/memory_meter.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

template <class T>
void every_entry_point_gives_the_same(SphericalHarmonicTransform& transform) {
  const AlmBuffer<T> alm = random_alm<T>(transform);
  const MapBuffer<T> map = synthesized(transform, alm);
  AlmBuffer<T> consumed_alm = copy_of(alm);
  EXPECT_TRUE(same_bits(transform.synthesize<T>(std::move(consumed_alm)), map));

  const AlmBuffer<T> back = adjoint_of(transform, map);
  MapBuffer<T> destroyed = copy_of(map);
  AlmBuffer<T> result = transform.make_alm<T>();
  transform.adjoint_destroying<T>(destroyed.view(), {}, result.view());
  EXPECT_TRUE(same_bits(result, back));
  MapBuffer<T> consumed_map = copy_of(map);
  EXPECT_TRUE(same_bits(transform.adjoint<T>(std::move(consumed_map), {}), back));
}

TEST_P(OnEveryRankCount, ConsumingAndDestroyingVersionsGiveWhatThePlainOnesGive) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    every_entry_point_gives_the_same<double>(transform);
    every_entry_point_gives_the_same<float>(transform);
    transform.release_workspace();
    every_entry_point_gives_the_same<double>(transform);
  }
}

TEST_P(OnEveryRankCount, AnAdjointInPassesGivesTheSameBits) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    TransformSpec spec = chosen.spec();
    SphericalHarmonicTransform at_once(comm(), spec);
    const MapBuffer<double> map = random_map(at_once);
    const AlmBuffer<double> expected = adjoint_of(at_once, map);
    for (const std::int64_t pass_bytes : {100, 5000}) {
      spec.pass_bytes = pass_bytes;
      SphericalHarmonicTransform in_passes(comm(), spec);
      EXPECT_TRUE(same_bits(adjoint_of(in_passes, map), expected));
      in_passes.release_workspace();
      EXPECT_TRUE(same_bits(adjoint_of(in_passes, map), expected));
    }
  }
}

TEST_P(OnEveryRankCount, TheRingsMayBeDealtByTheCaller) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    TransformSpec spec = chosen.spec();
    SphericalHarmonicTransform usual(comm(), spec);
    std::vector<std::int64_t> costs;
    for (std::int64_t r = 0; r < spec.grid->n_rings(); ++r) costs.push_back(1 + r % 5);
    spec.ring_bands = std::make_shared<RingDistribution>(spec.grid, costs, comm().size());
    SphericalHarmonicTransform dealt(comm(), spec);
    EXPECT_EQ(dealt.rings().n_rings(), spec.ring_bands->n_rings(comm().rank()));
    const AlmBuffer<double> alm = random_alm(usual);
    const AlmBuffer<double> back = adjoint_of(dealt, synthesized(dealt, alm));
    expect_within(relative_error(comm(), back, adjoint_of(usual, synthesized(usual, alm))),
                  tolerance::rank_invariance);

    spec.ring_bands = std::make_shared<RingDistribution>(spec.grid, costs, comm().size() + 1);
    EXPECT_THROW(SphericalHarmonicTransform(comm(), spec), UsageError);
  }
}

TEST_P(OnEveryRankCount, ConsumedInputsAreGone) {
  SphericalHarmonicTransform transform(comm(), telling_cases().front().spec());
  const std::int64_t before = MemoryMeter::current_bytes();
  MapBuffer<double> map = transform.synthesize<double>(random_alm(transform));
  const AlmBuffer<double> alm = transform.adjoint<double>(std::move(map), {});
  transform.release_workspace();
  EXPECT_EQ(MemoryMeter::current_bytes() - before, alm.bytes());
}

TEST_P(OnEveryRankCount, AnAdjointCanAddToWhatIsThere) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    const MapBuffer<double> map = random_map(transform);
    const AlmBuffer<double> start = random_alm(transform);
    AlmBuffer<double> expected = adjoint_of(transform, map);
    for (std::int64_t i = 0; i < expected.n_components() * expected.size(); ++i) {
      expected.view().data()[i] += start.view().data()[i];
    }
    AlmBuffer<double> added = copy_of(start);
    transform.adjoint<double>(map.view(), {}, added.view(), Accumulate::add);
    expect_within(relative_error(comm(), added, expected), tolerance::rank_invariance);
    MapBuffer<double> scratch = copy_of(map);
    AlmBuffer<double> again = copy_of(start);
    transform.adjoint_destroying<double>(scratch.view(), {}, again.view(), Accumulate::add);
    EXPECT_TRUE(same_bits(again, added));
  }
}

TEST_P(OnEveryRankCount, ComponentsMayLieApart) {
  SphericalHarmonicTransform transform(comm(), telling_cases().front().spec());
  const AlmBuffer<double> alm = random_alm(transform);
  const MapBuffer<double> expected = synthesized(transform, alm);
  const std::int64_t n = transform.fields().n_components();
  const std::int64_t alm_stride = alm.size() + 5;
  const std::int64_t map_stride = expected.size() + 3;
  HostBuffer<std::complex<double>> wide_alm(n * alm_stride);
  HostBuffer<double> wide_map(n * map_stride);
  constexpr double untouched = 12345;
  std::fill(wide_map.begin(), wide_map.end(), untouched);
  for (std::int64_t c = 0; c < n; ++c) {
    std::copy_n(alm.view().component(c).data(), alm.size(), wide_alm.data() + c * alm_stride);
  }
  transform.synthesize<double>(AlmView<const double>(wide_alm.data(), n, alm.size(), alm_stride),
                               MapView<double>(wide_map.data(), n, expected.size(), map_stride));
  for (std::int64_t c = 0; c < n; ++c) {
    for (std::int64_t i = 0; i < map_stride; ++i) {
      const double wanted = i < expected.size() ? expected.view().component(c)[i] : untouched;
      ASSERT_EQ(wide_map[c * map_stride + i], wanted);
    }
  }
}

TEST_P(OnEveryRankCount, RepeatedTransformsAreTheSameBitByBit) {
  SphericalHarmonicTransform transform(comm(), telling_cases().front().spec());
  SphericalHarmonicTransform other(comm(), telling_cases().front().spec());
  const AlmBuffer<double> alm = random_alm(transform);
  const MapBuffer<double> map = synthesized(transform, alm);
  EXPECT_TRUE(same_bits(synthesized(transform, alm), map));
  EXPECT_TRUE(same_bits(synthesized(other, alm), map));
}

TEST_P(OnEveryRankCount, TheStagesAreTimed) {
  SphericalHarmonicTransform transform(comm(), telling_cases().front().spec());
  synthesized(transform, random_alm(transform));
  EXPECT_EQ(transform.times().entries().at("legendre").calls, 1);
  EXPECT_EQ(transform.times().entries().at("ring_fft").calls, 1);
  EXPECT_EQ(transform.times().entries().count("exchange"), comm().size() == 1 ? 0u : 1u);
}

TEST_P(OnEveryRankCount, RanksThatDisagreeOnTheTransformAllThrow) {
  if (comm().size() == 1) return;
  const bool last = comm().rank() == comm().size() - 1;
  const TransformSpec agreed_on = telling_cases().front().spec();
  const auto refused = [&](const char* what, const auto& change) {
    TransformSpec spec = agreed_on;
    if (last) change(spec);
    EXPECT_THROW(SphericalHarmonicTransform(comm(), spec), UsageError) << what;
  };
  refused("lmax", [](TransformSpec& spec) { ++spec.lmax; });
  refused("mmax", [](TransformSpec& spec) { --spec.mmax; });
  refused("grid", [](TransformSpec& spec) { spec.grid = share(RingGrid::healpix(9)); });
  refused("fields", [](TransformSpec& spec) { spec.fields = FieldSet({2, 0}); });
  refused("folding", [](TransformSpec& spec) { spec.exchange.folding = Folding::keep; });
  refused("counts", [](TransformSpec& spec) { spec.exchange.mpi_count_limit = 100000; });
}

TEST_P(OnEveryRankCount, WithoutMmaxATransformHasAllOrders) {
  TransformSpec spec;
  spec.grid = share(RingGrid::healpix(8));
  spec.lmax = 11;
  const TransformPlan open(spec, comm().rank(), comm().size());
  spec.mmax = 11;
  const TransformPlan named(spec, comm().rank(), comm().size());
  EXPECT_EQ(open.spec.mmax, 11);
  EXPECT_EQ(open.alm.size(), named.alm.size());
  EXPECT_EQ(open.spec.digest(), named.spec.digest());
}

TEST_P(OnEveryRankCount, WhatCannotBeIsRefusedOnEveryRank) {
  const TransformSpec good = telling_cases().front().spec();
  const auto refused = [&](const auto& change) {
    TransformSpec spec = good;
    change(spec);
    EXPECT_THROW(SphericalHarmonicTransform(comm(), spec), UsageError);
  };
  refused([](TransformSpec& spec) { spec.grid = nullptr; });
  refused([](TransformSpec& spec) { spec.lmax = -1; });
  refused([](TransformSpec& spec) { spec.mmax = spec.lmax + 1; });
  refused([](TransformSpec& spec) { spec.mmax = -2; });
  EXPECT_THROW(SphericalHarmonicTransform(comm(),
                                          [&] {
                                            TransformSpec spec = good;
                                            if (comm().is_root()) spec.grid = nullptr;
                                            return spec;
                                          }()),
               UsageError);
}

TEST_P(OnEveryRankCount, WrongShapesOnOneRankAreRefusedOnAll) {
  SphericalHarmonicTransform transform(comm(), telling_cases().front().spec());
  const std::int64_t n = transform.fields().n_components();
  const std::int64_t one_more = comm().rank() == comm().size() - 1 ? 1 : 0;
  AlmBuffer<double> alm = random_alm(transform);
  MapBuffer<double> map = random_map(transform);
  AlmBuffer<double> long_alm(n, alm.size() + one_more);
  MapBuffer<double> long_map(n, map.size() + one_more);
  AlmBuffer<double> more_alm(n + one_more, alm.size());
  EXPECT_THROW(transform.synthesize<double>(std::as_const(long_alm).view(), map.view()),
               UsageError);
  EXPECT_THROW(transform.synthesize<double>(std::as_const(more_alm).view(), map.view()),
               UsageError);
  EXPECT_THROW(transform.synthesize<double>(std::as_const(alm).view(), long_map.view()),
               UsageError);
  EXPECT_THROW(transform.adjoint<double>(std::as_const(long_map).view(), {}, alm.view()),
               UsageError);
  EXPECT_THROW(transform.adjoint<double>(std::as_const(map).view(), {}, long_alm.view()),
               UsageError);
  EXPECT_THROW(transform.adjoint_destroying<double>(long_map.view(), {}, alm.view()), UsageError);
  std::vector<double> weights = ring_weights(transform.rings());
  if (one_more != 0) weights.push_back(1);
  EXPECT_THROW(transform.adjoint<double>(std::as_const(map).view(), weights, alm.view()),
               UsageError);
  EXPECT_THROW(transform.synthesize<double>(std::move(long_alm)), UsageError);
  EXPECT_THROW(transform.adjoint<double>(std::move(long_map), {}), UsageError);
  EXPECT_NO_THROW(synthesized(transform, random_alm(transform)));
}

}  // namespace
}  // namespace ringweave::detail::test
