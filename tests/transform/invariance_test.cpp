// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>

#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

TEST_P(OnEveryRankCount, TheNumberOfRanksChangesNothing) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    expect_as_on_one_rank(comm(), chosen.spec());
  }
}

TEST_P(OnEveryRankCount, SinglePrecisionStorageRoundsTheDoubleResult) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    const MapBuffer<float> single = synthesized(transform, random_alm<float>(transform));
    const MapBuffer<double> twice = synthesized(transform, random_alm<double>(transform));
    MapBuffer<double> widened = transform.make_map<double>();
    for (std::int64_t i = 0; i < single.n_components() * single.size(); ++i) {
      widened.view().data()[i] = single.view().data()[i];
    }
    expect_within(relative_error(comm(), widened, twice), tolerance::single_storage);
  }
}

/// BothWays of a transform and its adjoint.
struct BothWays {
  MapBuffer<double> map;
  AlmBuffer<double> alm;
};
BothWays both_ways_of(const Communicator& comm, const TransformSpec& spec) {
  SphericalHarmonicTransform transform(comm, spec);
  return {synthesized(transform, random_alm(transform)),
          adjoint_of(transform, random_map(transform))};
}

TEST_P(OnEveryRankCount, FoldingAliasesBeforeTheExchangeChangesNothing) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    TransformSpec spec = chosen.spec();
    const BothWays folded = both_ways_of(comm(), spec);
    spec.exchange.folding = Folding::keep;
    const BothWays kept = both_ways_of(comm(), spec);
    expect_within(relative_error(comm(), folded.map, kept.map), tolerance::rank_invariance);
    expect_within(relative_error(comm(), folded.alm, kept.alm), tolerance::rank_invariance);
  }
}

TEST_P(OnEveryRankCount, PackingWhatMpiCannotCountChangesNothing) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    TransformSpec spec = chosen.spec();
    const BothWays in_place = both_ways_of(comm(), spec);
    spec.exchange.mpi_count_limit = 100;
    const TransformPlan plan(spec, comm().rank(), comm().size());
    EXPECT_EQ(plan.countable(), plan.most_modes <= 100);
    const BothWays packed = both_ways_of(comm(), spec);
    EXPECT_TRUE(same_bits(in_place.map, packed.map));
    EXPECT_TRUE(same_bits(in_place.alm, packed.alm));
  }
}

/// Copies component c of a buffer into a buffer of its own.
template <class Element>
ComponentBuffer<Element> component_of(const ComponentBuffer<Element>& all, std::int64_t first,
                                      std::int64_t count) {
  ComponentBuffer<Element> part(count, all.size());
  std::copy_n(all.view().component(first).data(), count * all.size(), part.view().data());
  return part;
}

TEST_P(OnEveryRankCount, ABatchGivesWhatItsFieldsGiveOneByOne) {
  const std::vector<std::pair<Case, int>> list = {
      {{share(RingGrid::healpix(8)), 30, 30, {0, 2}}, 3},
      {{share(RingGrid::healpix(5)), 14, 14, {0, 0, 0, 0, 0, 0, 0}}, 7},
      {{user_rings(), 40, 30, {2, 1, 0, 3, 0, 2}}, 10},
  };
  for (const auto& [chosen, n_components] : list) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform batch(comm(), chosen.spec());
    ASSERT_EQ(batch.fields().n_components(), n_components);
    const AlmBuffer<double> alm = random_alm(batch);
    const MapBuffer<double> map = synthesized(batch, alm);
    const AlmBuffer<double> back = adjoint_of(batch, map);
    for (const FieldSet::Field& field : batch.fields().fields()) {
      Case single = chosen;
      single.spins = {field.spin};
      SphericalHarmonicTransform transform(comm(), single.spec());
      const std::int64_t count = transform.fields().n_components();
      const MapBuffer<double> expected = component_of(map, field.first_component, count);
      expect_within(
          relative_error(comm(),
                         synthesized(transform, component_of(alm, field.first_component, count)),
                         expected),
          tolerance::rank_invariance);
      expect_within(relative_error(comm(), adjoint_of(transform, expected),
                                   component_of(back, field.first_component, count)),
                    tolerance::rank_invariance);
    }
  }
}

TEST_P(OnEveryRankCount, ASubsetOfRingsGivesTheseRingsOfTheWholeGrid) {
  const std::vector<int> spins{0, 2};
  SphericalHarmonicTransform part(comm(), Case{cut_sky(16), 40, 40, spins}.spec());
  SphericalHarmonicTransform whole(Communicator::self(),
                                   Case{share(RingGrid::healpix(16)), 40, 40, spins}.spec());
  expect_within(relative_error(comm(), synthesized(part, random_alm(part)),
                               my_rings_of(part, whole, synthesized(whole, random_alm(whole)))),
                tolerance::rank_invariance);
}

TEST_P(OnEveryRankCount, WhichRingsARankOwnsDoesNotDependOnTheSpins) {
  for (const auto& [grid, lmax] : std::vector<std::pair<Grid, int>>{
           {share(RingGrid::healpix(128)), 383}, {share(RingGrid::gauss_legendre(513)), 512}}) {
    const TransformPlan scalar(Case{grid, lmax, lmax, {0}}.spec(), comm().rank(), comm().size());
    for (const int spin : {1, 2, 3, 10}) {
      const TransformPlan other(Case{grid, lmax, lmax, {0, spin}}.spec(), comm().rank(),
                                comm().size());
      EXPECT_TRUE(std::ranges::equal(scalar.ring_bands.bands(comm().rank()),
                                     other.ring_bands.bands(comm().rank())));
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
