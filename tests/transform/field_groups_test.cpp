// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/field_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/entry_point_results.hpp"
#include "transform/transform_cases.hpp"

namespace ringweave::detail::test {
namespace {

using Spins = std::vector<std::vector<int>>;

Spins spins_of(const std::vector<FieldGroup>& groups) {
  Spins all;
  std::int64_t next_component = 0;
  for (const FieldGroup& group : groups) {
    EXPECT_EQ(group.first_component, next_component);
    next_component += group.fields.n_components();
    all.emplace_back();
    for (const FieldSet::Field& field : group.fields.fields()) all.back().push_back(field.spin);
  }
  return all;
}

Spins grouped(const std::vector<int>& spins, std::int64_t most_components) {
  return spins_of(group_fields(FieldSet(spins), most_components));
}

TEST(FieldGroups, AreTheFewestThatFitAndAsEvenAsPossible) {
  EXPECT_EQ(grouped({0, 0, 0, 0, 0}, 5), (Spins{{0, 0, 0, 0, 0}}));
  EXPECT_EQ(grouped({0, 0, 0, 0, 0}, 4), (Spins{{0, 0, 0}, {0, 0}}));
  EXPECT_EQ(grouped({0, 0, 0, 0, 0}, 2), (Spins{{0, 0}, {0, 0}, {0}}));
  EXPECT_EQ(grouped(std::vector<int>(7, 0), 3), (Spins{{0, 0, 0}, {0, 0}, {0, 0}}));
  EXPECT_EQ(grouped({0}, 0), (Spins{{0}}));
}

TEST(FieldGroups, NeverSplitAField) {
  EXPECT_EQ(grouped({0, 2}, 2), (Spins{{0}, {2}}));
  EXPECT_EQ(grouped({2, 2, 2}, 5), (Spins{{2, 2}, {2}}));
  EXPECT_EQ(grouped({2, 2, 2}, 1), (Spins{{2}, {2}, {2}}));
  EXPECT_EQ(grouped({0, 2, 0, 2}, 3), (Spins{{0, 2}, {0, 2}}));
}

TEST(FieldGroups, HaveOneShapeWhereTheirSpinsAreTheSame) {
  std::vector<int> shapes;
  for (const FieldGroup& group : group_fields(FieldSet({0, 0, 2, 0, 0, 0, 2}), 2)) {
    shapes.push_back(group.shape);
  }
  EXPECT_EQ(shapes, (std::vector<int>{0, 1, 0, 2, 1}));
}

/// The specification with a limit for groups of n components.
TransformSpec in_groups_of(TransformSpec spec, std::int64_t n_components, int n_ranks) {
  spec.mode_bytes = TransformPlan(spec, 0, n_ranks).mode_bytes_of(n_components);
  return spec;
}

/// Modes of one component of the rank's orders.
std::int64_t modes_of_orders(const TransformPlan& plan) {
  return plan.sent_modes + plan.exchange.by_ring_blocks[to_size(plan.rank)].count;
}

TEST(FieldGroups, OfAPlanAreTheSameOnEveryRankAndKeepTheLimit) {
  for (const int n_ranks : {1, 2, 7, 400}) {
    TransformSpec spec = Case{share(RingGrid::healpix(16)), 40, 40, {0, 0, 0, 0, 0}}.spec();
    spec.mode_bytes = TransformPlan(spec, 0, n_ranks).mode_bytes_of(3) - 1;
    for (int rank = 0; rank < n_ranks; ++rank) {
      const TransformPlan plan(spec, rank, n_ranks);
      EXPECT_EQ(spins_of(plan.groups), (Spins{{0, 0}, {0, 0}, {0}}));
      const std::int64_t by_order = 16 * 5 * modes_of_orders(plan);
      const std::int64_t bytes = std::max(by_order, plan.by_ring_bytes());
      EXPECT_LE(bytes / 5 * plan.n_components_at_once(), spec.mode_bytes);
    }
  }
}

TEST(FieldGroups, ChangeNeitherTheWorkNorTheBytesSentOfAPlan) {
  const TransformSpec spec = Case{share(RingGrid::healpix(16)), 40, 40, {0, 2, 0, 2, 2}}.spec();
  const TransformPlan whole(spec, 1, 3);
  const TransformPlan plan(in_groups_of(spec, 3, 3), 1, 3);
  EXPECT_EQ(plan.groups.size(), 3u);
  EXPECT_NE(plan.spec.digest(), whole.spec.digest());
  EXPECT_EQ(plan.bytes_sent(), whole.bytes_sent());
  EXPECT_EQ(plan.legendre_flops().total(), whole.legendre_flops().total());
  EXPECT_EQ(plan.by_ring_bytes(), whole.by_ring_bytes());
  EXPECT_EQ(plan.alm.size(), whole.alm.size());
}

/// Results of every entry point and of an analysis.
template <class T>
struct Results {
  EntryPointResults<T> transforms;
  AlmBuffer<T> alm_of_analysis;
};

template <class T>
Results<T> results_of(const Communicator& comm, const TransformSpec& spec) {
  SphericalHarmonicTransform transform(comm, spec);
  const MapBuffer<T> input = random_map<T>(transform);
  Results<T> results{entry_point_results(transform, input), transform.make_alm<T>()};
  transform.adjoint<T>(input.view(), {}, results.transforms.alm_of_destroyed.view(),
                       Accumulate::add);
  std::vector<double> ones(to_size(transform.rings().n_rings()), 1.0);
  Analysis analysis(transform, {std::move(ones), {}});
  analysis.jacobi<T>(input.view(), 1, results.alm_of_analysis.view());
  return results;
}

template <class T>
void expect_same_bits(const Results<T>& a, const Results<T>& b) {
  expect_same_bits(a.transforms, b.transforms);
  EXPECT_TRUE(same_bits(a.alm_of_analysis, b.alm_of_analysis));
}

using Batches = std::vector<std::vector<int>>;
/// Spins of five scalar maps in groups of 2, 2 and 1, three, a pair and a map, pairs.
const Batches all_batches{{0, 0, 0, 0, 0}, {0, 0, 0}, {0, 2}, {2, 2, 2}, {2, 0, 1, 3}};
/// Equal spins and mixed ones.
const Batches two_batches{{0, 0, 0}, {2, 0, 1, 3}};

std::vector<TransformSpec> grouped_specs(const Case& on, const Batches& batches, int n_ranks) {
  std::vector<TransformSpec> specs;
  for (const std::vector<int>& spins : batches) {
    Case batch = on;
    batch.spins = spins;
    specs.push_back(in_groups_of(batch.spec(), 2, n_ranks));
    EXPECT_GT(TransformPlan(specs.back(), 0, n_ranks).groups.size(), 1u);
  }
  return specs;
}

/// Compares groups with all at once under the first of the options: the others change no bit.
template <class T>
void groups_change_no_bit(const Communicator& comm, const Batches& batches,
                          const std::vector<ExchangeOptions>& exchanges) {
  for (const Case& on : telling_cases()) {
    for (const TransformSpec& in_groups : grouped_specs(on, batches, comm.size())) {
      SCOPED_TRACE(on.name());
      TransformSpec spec = in_groups;
      spec.mode_bytes = TransformSpec().mode_bytes;
      spec.exchange = exchanges.front();
      const Results<T> at_once = results_of<T>(comm, spec);
      spec.mode_bytes = in_groups.mode_bytes;
      for (const ExchangeOptions& exchange : exchanges) {
        spec.exchange = exchange;
        expect_same_bits(results_of<T>(comm, spec), at_once);
      }
    }
  }
}

TEST_P(OnEveryRankCount, GroupsOfFieldsGiveTheBitsOfAllAtOnce) {
  // In one exchange, in passes, and in parts that MPI can count.
  groups_change_no_bit<double>(
      comm(), all_batches,
      {ExchangeOptions(), {.schedule = ExchangeSchedule::overlapped}, {.mpi_count_limit = 100}});
}

TEST_P(OnEveryRankCount, GroupsOfFieldsOfFloatsGiveTheBitsOfAllAtOnce) {
  groups_change_no_bit<float>(comm(), two_batches, {ExchangeOptions()});
}

TEST_P(OnEveryRankCount, GroupsOfFieldsExchangedInSinglePrecisionGiveTheBitsOfAllAtOnce) {
  groups_change_no_bit<double>(comm(), two_batches, {{.precision = ModePrecision::single_}});
}

bool all_spins_are_equal(const FieldSet& fields) {
  const auto other = [&](const FieldSet::Field& field) {
    return field.spin != fields.fields().front().spin;
  };
  return std::none_of(fields.fields().begin(), fields.fields().end(), other);
}

TEST_P(OnEveryRankCount, GroupsOfFieldsResampledInThetaGiveTheSame) {
  const Case on{share(RingGrid::healpix(64)), 150, 150, {}};
  for (TransformSpec spec : grouped_specs(on, all_batches, comm().size())) {
    spec.theta = ThetaRoute::resampled;
    const Results<double> in_groups = results_of<double>(comm(), spec);
    spec.mode_bytes = TransformSpec().mode_bytes;
    const Results<double> whole = results_of<double>(comm(), spec);
    if (all_spins_are_equal(spec.fields)) {
      expect_same_bits(in_groups, whole);
      continue;
    }
    // Equidistant rings are pruned for the highest spin of a group.
    expect_within(relative_error(comm(), in_groups.transforms.map, whole.transforms.map),
                  tolerance::rank_invariance);
    expect_within(relative_error(comm(), in_groups.transforms.alm, whole.transforms.alm),
                  tolerance::rank_invariance);
  }
}

TEST_P(OnEveryRankCount, StageTimesOfGroupsAddUp) {
  const TransformSpec spec =
      grouped_specs(telling_cases().front(), all_batches, comm().size()).front();
  SphericalHarmonicTransform transform(comm(), spec);
  synthesized(transform, random_alm(transform));
  EXPECT_EQ(transform.times().entries().at("ring_fft").calls, 3);
  EXPECT_EQ(transform.times().entries().at("legendre").calls, 3);
}

TEST_P(OnEveryRankCount, TheWorkspaceOfGroupsIsThatOfTheLargest) {
  Case chosen = telling_cases().front();
  chosen.spins = {0, 0, 0, 0, 0};
  TransformSpec spec = in_groups_of(chosen.spec(), 2, comm().size());
  SphericalHarmonicTransform transform(comm(), spec);
  const std::int64_t before = MemoryMeter::current_bytes();
  const MapBuffer<double> map = synthesized(transform, random_alm(transform));
  const TransformPlan& plan = transform.plan();
  const std::int64_t modes = plan.by_ring_bytes() / 5 * 2;
  const std::int64_t kept = MemoryMeter::current_bytes() - before - map.bytes();
  EXPECT_GE(kept, modes);
  // A rank with too few rings for its orders stores these separately.
  EXPECT_LE(kept, modes + 16 * modes_of_orders(plan) * 2);
}

TEST_P(OnEveryRankCount, WrongShapesAreRefusedInGroupsToo) {
  const TransformSpec spec =
      grouped_specs(telling_cases().front(), all_batches, comm().size()).front();
  SphericalHarmonicTransform transform(comm(), spec);
  const AlmBuffer<double> alm = random_alm(transform);
  MapBuffer<double> map = transform.make_map<double>();
  EXPECT_THROW(transform.synthesize<double>(alm.view().components(0, 2), map.view()), UsageError);
  EXPECT_THROW(transform.synthesize<double>(AlmBuffer<double>(4, alm.size())), UsageError);
  EXPECT_THROW(transform.adjoint<double>(MapBuffer<double>(6, map.size()), {}), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
