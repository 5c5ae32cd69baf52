// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/rotation.hpp"
#include "ringweave/smoothing.hpp"
#include "transform/map_preparation.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

/// Sets the number of threads within its scope.
class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

/// Every result of a transform, on one rank.
struct Results {
  MapBuffer<double> map;
  MapBuffer<float> single_map;
  AlmBuffer<double> adjoint;
  AlmBuffer<float> single_adjoint;
  AlmBuffer<double> jacobi;
  AlmBuffer<double> gradients;
};

Results results_of(SphericalHarmonicTransform& transform) {
  Results results;
  results.map = synthesized(transform, random_alm(transform));
  results.single_map = synthesized(transform, random_alm<float>(transform));
  const MapBuffer<double> noise = random_map(transform);
  results.adjoint = adjoint_of(transform, noise);
  results.single_adjoint = adjoint_of(transform, random_map<float>(transform));
  Analysis analysis(transform, {ring_weights(transform.rings()), {}});
  results.jacobi = transform.make_alm<double>();
  analysis.jacobi<double>(noise.view(), 1, results.jacobi.view());
  results.gradients = transform.make_alm<double>();
  analysis.conjugate_gradients<double>(noise.view(), 1e-3, 2, results.gradients.view());
  return results;
}

void expect_same_bits(const Results& a, const Results& b) {
  EXPECT_TRUE(same_bits(a.map, b.map));
  EXPECT_TRUE(same_bits(a.single_map, b.single_map));
  EXPECT_TRUE(same_bits(a.adjoint, b.adjoint));
  EXPECT_TRUE(same_bits(a.single_adjoint, b.single_adjoint));
  EXPECT_TRUE(same_bits(a.jacobi, b.jacobi));
  EXPECT_TRUE(same_bits(a.gradients, b.gradients));
}

class Threads : public testing::TestWithParam<Case> {};

TEST_P(Threads, TheirNumberChangesNoBit) {
  const auto with = [](int count) {
    const ThreadCount threads(count);
    SphericalHarmonicTransform transform(Communicator::self(), GetParam().spec());
    return results_of(transform);
  };
  const Results expected = with(1);
  for (const int count : {2, 4}) {
    SCOPED_TRACE(count);
    expect_same_bits(with(count), expected);
  }
}

TEST_P(Threads, APlanRunsWithOtherNumbersThanItWasMadeWith) {
  for (const int planned : {1, 4}) {
    SCOPED_TRACE(planned);
    const ThreadCount plan_threads(planned);
    SphericalHarmonicTransform transform(Communicator::self(), GetParam().spec());
    const Results expected = results_of(transform);
    const ThreadCount run_threads(planned == 1 ? 4 : 1);
    expect_same_bits(results_of(transform), expected);
  }
}

TEST_P(Threads, PlansSideBySideDoNotDisturbEachOther) {
  const ThreadCount threads(1);
  SphericalHarmonicTransform first(Communicator::self(), GetParam().spec());
  SphericalHarmonicTransform second(Communicator::self(), GetParam().spec());
  const Results expected = results_of(first);
  Results results[2];
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; ++i) results[i] = results_of(i == 0 ? first : second);
  expect_same_bits(results[0], expected);
  expect_same_bits(results[1], expected);
}

INSTANTIATE_TEST_SUITE_P(Cases, Threads,
                         testing::Values(Case{share(RingGrid::healpix(8)), 40, 40, {0, 2}},
                                         Case{share(RingGrid::healpix(20)), 50, 50, {0, 0, 0}},
                                         Case{share(RingGrid::gauss_legendre(49)), 48, 40, {1}}),
                         [](const auto& chosen) { return "Case" + std::to_string(chosen.index); });

TEST(DrawnAlm, DoNotDependOnTheNumberOfThreads) {
  const AlmLayout layout(60, 60);
  Spectra spectra(60);
  for (double& value : spectra.values(Spectra::TT)) value = 2;
  const auto with = [&](int count) {
    const ThreadCount threads(count);
    AlmBuffer<double> alm(1, layout.size());
    draw_alm(spectra, seed, layout, alm.view());
    return alm;
  };
  EXPECT_TRUE(same_bits(with(4), with(1)));
}

TEST(RotatedAlm, DoNotDependOnTheNumberOfThreads) {
  const AlmLayout layout(60, 60);
  Spectra spectra(60);
  for (double& value : spectra.values(Spectra::TT)) value = 2;
  for (const EulerAngles& angles : {EulerAngles{1, 2, 3}, EulerAngles{1, 0, 3}}) {
    const auto with = [&](int count) {
      AlmBuffer<double> alm(1, layout.size());
      draw_alm(spectra, seed, layout, alm.view());
      const ThreadCount threads(count);
      rotate(Communicator::self(), layout, alm, angles);
      return alm;
    };
    EXPECT_TRUE(same_bits(with(4), with(1)));
  }
}

const std::vector<std::string> stokes{"T", "Q", "U"};

/// All steps from reading a map to smoothing it: the check, a separate mask for T, pixel weights,
/// the beam, the division by the smoothed mask.
template <class T>
MapBuffer<T> smoothed(int n_threads) {
  const ThreadCount threads(n_threads);
  const Communicator self = Communicator::self();
  SphericalHarmonicTransform transform(self,
                                       Case{share(RingGrid::healpix(16)), 40, 40, {0, 2}}.spec());
  const LocalRings& rings = transform.rings();
  MapBuffer<T> map = random_map<T>(transform);
  for (std::int64_t i = 0; i < map.size(); ++i) {
    if (i % 100 < 30) map.view().component(0)[i] = static_cast<T>(unseen);
    if (i > 2500) map.view().component(1)[i] = map.view().component(2)[i] = static_cast<T>(unseen);
  }
  require_finite<T>(self, "map", stokes, rings, map.view());
  SmoothingOptions options;
  options.beam = gaussian_beam(0.2, 40);
  const std::vector<double> compressed(17 * 49 / 4, 1e-3);
  options.weights = std::make_shared<const AnalysisWeights>(
      AnalysisWeights{ring_weights(rings), expand_pixel_weights(rings, compressed)});
  options.n_iter = 1;
  options.unseen = UnseenPolicy::normalize;
  options.remove = Remove::dipole;
  smooth_harmonic<T>(transform, options, map.view());
  return map;
}

TEST(SmoothedMaps, DoNotDependOnTheNumberOfThreads) {
  EXPECT_TRUE(same_bits(smoothed<double>(4), smoothed<double>(1)));
  EXPECT_TRUE(same_bits(smoothed<float>(4), smoothed<float>(1)));
}

TEST(MapsThatAreNotFinite, AreRefusedInTheSameWordsByAnyNumberOfThreads) {
  const LocalRings rings(share(RingGrid::healpix(16)));
  MapBuffer<double> map(3, rings.n_pixels());
  std::fill_n(map.view().data(), map.n_components() * map.size(), 1.0);
  for (const std::int64_t pixel : {700, 1900, 3000})
    map.view().component(1)[pixel] = std::numeric_limits<double>::quiet_NaN();
  for (const int count : {1, 4}) {
    const ThreadCount threads(count);
    EXPECT_THAT(
        [&] { require_finite<double>(Communicator::self(), "map", stokes, rings, map.view()); },
        testing::ThrowsMessage<DataError>(testing::HasSubstr(
            "3 pixels of column Q are NaN or infinite, the first is pixel 700 ")));
  }
}

TEST(EquidistantGrids, DoNotDependOnTheNumberOfThreads) {
  const auto with = [](int count) {
    const ThreadCount threads(count);
    return RingGrid::fejer(48);
  };
  const RingGrid many = with(4);
  const RingGrid one = with(1);
  for (std::size_t r = 0; r < one.rings().size(); ++r) {
    EXPECT_EQ(many.rings()[r].theta, one.rings()[r].theta);
    EXPECT_EQ(many.rings()[r].weight, one.rings()[r].weight);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
