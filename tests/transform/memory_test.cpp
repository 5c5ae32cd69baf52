// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "base/memory_meter.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "support/test_size.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_plan.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

const int nside = test_size(512);
const int lmax = 2 * nside;

/// Returns the most bytes in buffers during `work`, tables and workspace of the plan included, over
/// those of one map and its a_lm; of all ranks together.
template <class Work>
double high_water_ratio(const SphericalHarmonicTransform& transform, const Work& work) {
  const Communicator& comm = transform.comm();
  const std::int64_t in_and_out =
      comm.sum(transform.make_map<double>().bytes() + transform.make_alm<double>().bytes());
  MemoryMeter::reset_high_water();
  work();
  const std::int64_t most = comm.sum(MemoryMeter::high_water_bytes());
  const double ratio = static_cast<double>(most) / static_cast<double>(in_and_out);
  if (comm.is_root()) std::printf("high-water: %.3f x (map + a_lm)\n", ratio);
  return ratio;
}

class Memory : public testing::TestWithParam<std::vector<int>> {
 protected:
  Memory() : transform_(Communicator::world(), spec()) {}
  static TransformSpec spec() {
    return Case{share(RingGrid::healpix(nside)), lmax, lmax, GetParam()}.spec();
  }
  SphericalHarmonicTransform transform_;
};

TEST_P(Memory, AConsumingSynthesisNeeds16OfItsInputAndOutput) {
  AlmBuffer<double> alm = random_alm(transform_);
  EXPECT_LE(high_water_ratio(transform_, [&] { transform_.synthesize<double>(std::move(alm)); }),
            1.6);
}

TEST_P(Memory, ASynthesisThatKeepsItsInputNeeds175) {
  if (nside < 1024)
    GTEST_SKIP() << "plan tables and the margin of the polar pruning still weigh 0.1 at nside "
                 << nside;
  const AlmBuffer<double> alm = random_alm(transform_);
  EXPECT_LE(high_water_ratio(transform_, [&] { synthesized(transform_, alm); }), 1.75);
}

TEST_P(Memory, AnAdjointThatKeepsItsInputNeeds175) {
  if (nside < 1024)
    GTEST_SKIP() << "plan tables and the margin of the polar pruning still weigh 0.1 at nside "
                 << nside;
  const MapBuffer<double> map = random_map(transform_);
  EXPECT_LE(high_water_ratio(transform_,
                             [&] {
                               AlmBuffer<double> alm = transform_.make_alm<double>();
                               transform_.adjoint<double>(map.view(), {}, alm.view());
                             }),
            1.75);
}

TEST_P(Memory, AConsumingAnalysisNeeds16) {
  Analysis analysis(transform_, {ring_weights(transform_.rings()), {}});
  MapBuffer<double> map = random_map(transform_);
  EXPECT_LE(high_water_ratio(transform_, [&] { analysis.once<double>(std::move(map)); }), 1.6);
}

TEST_P(Memory, AnIteratedAnalysisNeeds27) {
  Analysis analysis(transform_, {ring_weights(transform_.rings()), {}});
  const MapBuffer<double> map = random_map(transform_);
  EXPECT_LE(high_water_ratio(transform_,
                             [&] {
                               AlmBuffer<double> alm = transform_.make_alm<double>();
                               analysis.jacobi<double>(map.view(), 1, alm.view());
                             }),
            2.7);
}

TEST_P(Memory, AnIteratedAnalysisThatMayUseItsMapNeeds175) {
  if (nside < 1024)
    GTEST_SKIP() << "plan tables and the margin of the polar pruning still weigh 0.1 at nside "
                 << nside;
  Analysis analysis(transform_, {ring_weights(transform_.rings()), {}});
  MapBuffer<double> map = random_map(transform_);
  EXPECT_LE(high_water_ratio(transform_,
                             [&] {
                               AlmBuffer<double> alm = transform_.make_alm<double>();
                               analysis.jacobi_destroying<double>(map.view(), 1, alm.view());
                             }),
            1.75);
}

class ExchangeMemory : public testing::TestWithParam<ExchangeOptions> {
 protected:
  ExchangeMemory() : transform_(Communicator::world(), spec()) {}
  void SetUp() override {
    if (nside >= 1024 && transform_.comm().size() == 1)
      GTEST_SKIP() << "one rank exchanges nothing, and what it does without is tested above";
  }
  static TransformSpec spec() {
    TransformSpec spec = Case{share(RingGrid::healpix(nside)), lmax, lmax, {0}}.spec();
    spec.exchange = GetParam();
    return spec;
  }
  SphericalHarmonicTransform transform_;
};

TEST_P(ExchangeMemory, InPassesConsumingTransformsNeed16) {
  AlmBuffer<double> alm = random_alm(transform_);
  EXPECT_LE(high_water_ratio(transform_, [&] { transform_.synthesize<double>(std::move(alm)); }),
            1.6);
  transform_.release_workspace();
  MapBuffer<double> map = random_map(transform_);
  EXPECT_LE(high_water_ratio(transform_, [&] { transform_.adjoint<double>(std::move(map), {}); }),
            1.6);
}

TEST_P(ExchangeMemory, InPassesTransformsThatKeepTheirInputNeed175) {
  if (nside < 1024) GTEST_SKIP() << "passes are not small beside the modes at nside " << nside;
  {
    const AlmBuffer<double> alm = random_alm(transform_);
    EXPECT_LE(high_water_ratio(transform_, [&] { synthesized(transform_, alm); }), 1.75);
  }
  transform_.release_workspace();
  const MapBuffer<double> map = random_map(transform_);
  EXPECT_LE(high_water_ratio(transform_, [&] { adjoint_of(transform_, map); }), 1.75);
}

/// Eight maps, with a limit on the ring modes. Besides input and output (1) there are the modes of
/// those processed at once, 0.77 of 8 at nside 512, and tables.
class BatchMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (nside >= 1024) GTEST_SKIP() << "eight maps of nside " << nside << " take 6 GB";
  }
  static SphericalHarmonicTransform transform_of(std::int64_t maps_at_once) {
    const Communicator world = Communicator::world();
    TransformSpec spec = Case{share(RingGrid::healpix(nside)), lmax, lmax}.spec();
    spec.fields = FieldSet::batch(0, 8);
    spec.mode_bytes = TransformPlan(spec, 0, world.size()).mode_bytes_of(maps_at_once);
    return {world, spec};
  }
  static void expect_at_most(double bound, std::int64_t maps_at_once) {
    SphericalHarmonicTransform transform = transform_of(maps_at_once);
    {
      const AlmBuffer<double> alm = random_alm(transform);
      EXPECT_LE(high_water_ratio(transform, [&] { synthesized(transform, alm); }), bound);
    }
    transform.release_workspace();
    const MapBuffer<double> map = random_map(transform);
    EXPECT_LE(high_water_ratio(transform, [&] { adjoint_of(transform, map); }), bound);
  }
};

TEST_F(BatchMemory, AtOnceNeeds185) { expect_at_most(1.85, 8); }

TEST_F(BatchMemory, TwoByTwoNeeds125) { expect_at_most(1.25, 2); }

TEST_F(BatchMemory, InGroupsOf332Needs14) { expect_at_most(1.4, 3); }

TEST_F(BatchMemory, TwoByTwoConsumingTransformsNeed125) {
  SphericalHarmonicTransform transform = transform_of(2);
  AlmBuffer<double> alm = random_alm(transform);
  EXPECT_LE(high_water_ratio(transform, [&] { transform.synthesize<double>(std::move(alm)); }),
            1.25);
  transform.release_workspace();
  MapBuffer<double> map = random_map(transform);
  EXPECT_LE(high_water_ratio(transform, [&] { transform.adjoint<double>(std::move(map), {}); }),
            1.25);
}

INSTANTIATE_TEST_SUITE_P(Modes, ExchangeMemory,
                         testing::Values(ExchangeOptions{.schedule = ExchangeSchedule::overlapped},
                                         ExchangeOptions{.precision = ModePrecision::single_}));

INSTANTIATE_TEST_SUITE_P(Fields, Memory,
                         testing::ValuesIn(nside < 1024 ? std::vector<std::vector<int>>{{0}, {0, 2}}
                                                        : std::vector<std::vector<int>>{{0}}));

}  // namespace
}  // namespace ringweave::detail::test
