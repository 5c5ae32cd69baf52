// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "distribute/exchange/mode_exchange.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/entry_point_results.hpp"
#include "transform/transform_cases.hpp"

namespace ringweave::detail::test {
namespace {

template <class T>
EntryPointResults<T> entry_points_of(const Communicator& comm, const TransformSpec& spec) {
  SphericalHarmonicTransform transform(comm, spec);
  return entry_point_results(transform, random_map<T>(transform));
}

template <class T>
void expect_all_within(const Communicator& comm, const EntryPointResults<T>& a,
                       const EntryPointResults<T>& b, double bound) {
  expect_within(relative_error(comm, a.map, b.map), bound);
  expect_within(relative_error(comm, a.map_of_consumed, b.map_of_consumed), bound);
  expect_within(relative_error(comm, a.alm, b.alm), bound);
  expect_within(relative_error(comm, a.alm_of_destroyed, b.alm_of_destroyed), bound);
  expect_within(relative_error(comm, a.alm_of_consumed, b.alm_of_consumed), bound);
}

/// Returns exchanges with and without folded aliases, in few and many passes, counted by MPI and in
/// conversion buffers.
std::vector<TransformSpec> variants(const Case& chosen) {
  std::vector<TransformSpec> specs;
  specs.push_back(chosen.spec());
  specs.push_back(chosen.spec());
  specs.back().exchange.folding = Folding::keep;
  specs.back().pass_bytes = 5000;
  specs.push_back(chosen.spec());
  specs.back().pass_bytes = 100;
  specs.push_back(chosen.spec());
  specs.back().exchange.mpi_count_limit = 100;
  return specs;
}

template <class T>
void overlapping_changes_no_bit(const Communicator& comm) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    for (TransformSpec spec : variants(chosen)) {
      const EntryPointResults<T> whole = entry_points_of<T>(comm, spec);
      spec.exchange.schedule = ExchangeSchedule::overlapped;
      expect_same_bits(entry_points_of<T>(comm, spec), whole);
    }
  }
}

TEST_P(OnEveryRankCount, OverlappingTheExchangeChangesNoBit) {
  overlapping_changes_no_bit<double>(comm());
}

TEST_P(OnEveryRankCount, OverlappingTheExchangeOfFloatsChangesNoBit) {
  overlapping_changes_no_bit<float>(comm());
}

TEST_P(OnEveryRankCount, ASinglePrecisionExchangeKeepsItsBound) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform of_floats(comm(), chosen.spec());
    const MapBuffer<float> map = synthesized(of_floats, random_alm<float>(of_floats));
    for (TransformSpec spec : variants(chosen)) {
      const EntryPointResults<double> twice = entry_points_of<double>(comm(), spec);
      spec.exchange.precision = ModePrecision::single_;
      const EntryPointResults<double> single = entry_points_of<double>(comm(), spec);
      expect_all_within(comm(), single, twice, tolerance::single_storage);
      SphericalHarmonicTransform transform(comm(), spec);
      expect_within(
          relative_error(comm(), synthesized(transform, random_alm<float>(transform)), map),
          tolerance::single_storage);
      spec.exchange.schedule = ExchangeSchedule::overlapped;
      expect_same_bits(entry_points_of<double>(comm(), spec), single);
    }
  }
}

TEST_P(OnEveryRankCount, ASinglePrecisionExchangeRoundsAlikeOnAnyNumberOfRanks) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    TransformSpec spec = chosen.spec();
    spec.exchange.precision = ModePrecision::single_;
    SphericalHarmonicTransform transform(comm(), spec);
    SphericalHarmonicTransform alone(Communicator::self(), spec);
    const MapBuffer<double> map = synthesized(transform, random_alm(transform));
    const MapBuffer<double> expected =
        my_rings_of(transform, alone, synthesized(alone, random_alm(alone)));
    // A mode that a different summation order moves across a rounding boundary changes by 6e-8.
    expect_within(relative_error(comm(), map, expected), 1e-9);
  }
}

TEST_P(OnEveryRankCount, TooLargeModesOfASinglePrecisionExchangeAreRefused) {
  TransformSpec spec = telling_cases().front().spec();
  spec.exchange.precision = ModePrecision::single_;
  SphericalHarmonicTransform transform(comm(), spec);
  AlmBuffer<double> alm = random_alm(transform);
  for (std::int64_t i = 0; i < alm.n_components() * alm.size(); ++i) alm.view().data()[i] *= 1e40;
  EXPECT_THROW(synthesized(transform, alm), DataError);
  const MapBuffer<double> map = synthesized(transform, random_alm(transform));
  EXPECT_EQ(relative_error(comm(), map, map).max, 0);
}

TEST_P(OnEveryRankCount, APlanKnowsTheBytesOfASinglePrecisionExchange) {
  TransformSpec spec = telling_cases().front().spec();
  const TransformPlan twice(spec, comm().rank(), comm().size());
  spec.exchange.precision = ModePrecision::single_;
  const TransformPlan single(spec, comm().rank(), comm().size());
  EXPECT_EQ(single.bytes_sent() * 2, twice.bytes_sent());
  EXPECT_NE(single.spec.digest(), twice.spec.digest());
  spec.exchange.schedule = ExchangeSchedule::overlapped;
  EXPECT_NE(single.spec.digest(), spec.digest());
  if (comm().size() > 1) {
    const ModeExchange exchange(comm(), single.order_passes(single.n_passes),
                                single.spec.fields.n_components(), single.spec.exchange,
                                make_host_transport(ModePrecision::single_, true));
    EXPECT_EQ(exchange.bytes_sent(), single.bytes_sent());
  }
}

}  // namespace
}  // namespace ringweave::detail::test
