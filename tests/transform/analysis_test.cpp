// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/analysis.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

Case healpix_case(int nside, int lmax) {
  return {share(RingGrid::healpix(nside)), lmax, lmax, {0, 2}};
}

AnalysisWeights quadrature(const SphericalHarmonicTransform& transform) {
  return {ring_weights(transform.rings()), {}};
}

/// Returns || f - S a || / || f ||.
double residual_of(SphericalHarmonicTransform& transform, const MapBuffer<double>& map,
                   const AlmBuffer<double>& alm) {
  MapBuffer<double> rest = synthesized(transform, alm);
  for (std::int64_t i = 0; i < map.n_components() * map.size(); ++i)
    rest.view().data()[i] -= map.view().data()[i];
  return std::sqrt(squared_norm<double>(transform.comm(), std::as_const(rest).view()) /
                   squared_norm<double>(transform.comm(), map.view()));
}

TEST_P(OnEveryRankCount, JacobiPassesReduceTheResidualOnHealpix) {
  SphericalHarmonicTransform transform(comm(), healpix_case(16, 32).spec());
  Analysis analysis(transform, quadrature(transform));
  const MapBuffer<double> map = synthesized(transform, random_alm(transform));
  AlmBuffer<double> alm = transform.make_alm<double>();
  std::vector<int> passes;
  const AnalysisReport report =
      analysis.jacobi<double>(map.view(), 4, alm.view(), [&](int pass, int of, double residual) {
        passes.push_back(pass);
        EXPECT_EQ(of, 4);
        EXPECT_EQ(residual < 0, pass == 0);
      });
  EXPECT_EQ(report.iterations, 4);
  EXPECT_EQ(passes, (std::vector<int>{0, 1, 2, 3, 4}));
  ASSERT_EQ(report.residuals.size(), 4u);
  double before = 1;
  for (const double residual : report.residuals) {
    EXPECT_LT(residual, 0.5 * before);
    before = residual;
  }
  EXPECT_LT(residual_of(transform, map, alm), 0.5 * before);
  EXPECT_LT(relative_error(comm(), alm, random_alm(transform)).rms, 1e-3);

  AlmBuffer<double> first = transform.make_alm<double>();
  EXPECT_TRUE(analysis.jacobi<double>(map.view(), 0, first.view()).residuals.empty());
  EXPECT_NEAR(residual_of(transform, map, first), report.residuals.front(), 1e-12);
}

/// Explicit weights of 1 force the analysis to use pixels.
TEST_P(OnEveryRankCount, IterationsOnSpectraGiveWhatThoseOnPixelsGive) {
  for (const std::vector<int>& spins : {std::vector<int>{0}, {0, 2}, {1, 0, 0}}) {
    // Orders fold on most rings.
    SphericalHarmonicTransform transform(comm(),
                                         Case{share(RingGrid::healpix(8)), 40, 36, spins}.spec());
    AnalysisWeights weights = quadrature(transform);
    Analysis on_spectra(transform, weights);
    weights.pixel.assign(to_size(transform.rings().n_pixels()), 1.0);
    Analysis on_pixels(transform, weights);
    EXPECT_FALSE(on_spectra.needs_residual_map());
    EXPECT_TRUE(on_pixels.needs_residual_map());
    MapBuffer<double> map = random_map(transform);

    AlmBuffer<double> expected = transform.make_alm<double>();
    AlmBuffer<double> alm = transform.make_alm<double>();
    const AnalysisReport slow = on_pixels.jacobi<double>(map.view(), 2, expected.view());
    const AnalysisReport fast = on_spectra.jacobi<double>(std::as_const(map).view(), 2, alm.view());
    expect_within(relative_error(comm(), alm, expected), tolerance::round_trip);
    EXPECT_EQ(slow.on_spectra, 0);
    EXPECT_EQ(fast.on_spectra, 4);
    for (std::size_t pass = 0; pass < 2; ++pass)
      EXPECT_NEAR(fast.residuals[pass], slow.residuals[pass], 1e-12);

    on_pixels.conjugate_gradients<double>(std::as_const(map).view(), 1e-4, 3, expected.view());
    on_spectra.conjugate_gradients<double>(std::as_const(map).view(), 1e-4, 3, alm.view());
    expect_within(relative_error(comm(), alm, expected), 1e-10);

    AlmBuffer<double> again = transform.make_alm<double>();
    on_spectra.jacobi<double>(std::as_const(map).view(), 2, alm.view());
    on_spectra.jacobi_destroying<double>(map.view(), 2, again.view());
    EXPECT_TRUE(same_bits(alm, again));
  }
}

TEST_P(OnEveryRankCount, AnAnalysisWithoutIterationsIsExactOnExactGrids) {
  for (const std::vector<int>& spins : {std::vector<int>{0, 2}, {1}}) {
    SphericalHarmonicTransform transform(
        comm(), Case{share(RingGrid::gauss_legendre(41)), 40, 40, spins}.spec());
    Analysis analysis(transform, quadrature(transform));
    const AlmBuffer<double> expected = random_alm(transform);
    const MapBuffer<double> map = synthesized(transform, expected);
    AlmBuffer<double> alm = transform.make_alm<double>();
    analysis.jacobi<double>(map.view(), 0, alm.view());
    expect_within(relative_error(comm(), alm, expected), tolerance::round_trip);
    const AnalysisReport report = analysis.jacobi<double>(map.view(), 1, alm.view());
    EXPECT_LE(report.residuals.front(), tolerance::round_trip);
  }
}

TEST_P(OnEveryRankCount, TheConsumingAnalysesAreTheOneWithoutIterations) {
  SphericalHarmonicTransform transform(comm(), healpix_case(8, 20).spec());
  for (const bool with_pixel_weights : {false, true}) {
    AnalysisWeights weights = quadrature(transform);
    if (with_pixel_weights) {
      for (std::int64_t i = 0; i < transform.rings().n_pixels(); ++i) {
        weights.pixel.push_back(1 + 1e-3 * static_cast<double>(i % 7));
      }
    }
    Analysis analysis(transform, weights);
    const MapBuffer<double> map = random_map(transform);
    AlmBuffer<double> alm = transform.make_alm<double>();
    analysis.jacobi<double>(map.view(), 0, alm.view());
    AlmBuffer<double> once = transform.make_alm<double>();
    MapBuffer<double> scratch = copy_of(map);
    analysis.once_destroying<double>(scratch.view(), once.view());
    EXPECT_TRUE(same_bits(once, alm));
    EXPECT_TRUE(same_bits(analysis.once<double>(copy_of(map)), alm));

    MapBuffer<double> weighted = copy_of(map);
    for (std::int64_t c = 0; with_pixel_weights && c < map.n_components(); ++c) {
      for (std::int64_t i = 0; i < map.size(); ++i)
        weighted.view().component(c)[i] *= weights.pixel[to_size(i)];
    }
    EXPECT_TRUE(same_bits(adjoint_of(transform, weighted, weights.ring), alm));
  }
}

TEST_P(OnEveryRankCount, ConjugateGradientsReachTheirTolerance) {
  for (const Case& chosen :
       {healpix_case(16, 24), Case{share(RingGrid::healpix(5)), 7, 5, {1, 0}}}) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    Analysis analysis(transform, quadrature(transform));
    const AlmBuffer<double> expected = random_alm(transform);
    const MapBuffer<double> map = synthesized(transform, expected);
    AlmBuffer<double> alm = transform.make_alm<double>();
    constexpr double asked = 1e-10;
    const AnalysisReport report =
        analysis.conjugate_gradients<double>(map.view(), asked, 100, alm.view());
    EXPECT_LE(report.residuals.back(), asked);
    EXPECT_LE(report.iterations, 30);
    EXPECT_EQ(report.residuals.size(), to_size(report.iterations + 1));
    expect_within(relative_error(comm(), alm, expected), 100 * asked);

    const AnalysisReport stopped =
        analysis.conjugate_gradients<double>(map.view(), asked, 2, alm.view());
    EXPECT_EQ(stopped.iterations, 2);
    EXPECT_GT(stopped.residuals.back(), asked);
  }
}

TEST_P(OnEveryRankCount, ConjugateGradientsGoAsFarAsSinglePrecisionStorageAllows) {
  SphericalHarmonicTransform transform(comm(), healpix_case(16, 24).spec());
  Analysis analysis(transform, quadrature(transform));
  const AlmBuffer<float> expected = random_alm<float>(transform);
  const MapBuffer<float> map = synthesized(transform, expected);
  AlmBuffer<float> alm = transform.make_alm<float>();
  const AnalysisReport report =
      analysis.conjugate_gradients<float>(map.view(), 1e-6, 50, alm.view());
  EXPECT_LE(report.residuals.back(), 1e-6);
  EXPECT_LE(relative_error(comm(), alm, expected).rms, 10 * tolerance::single_storage);
}

TEST_P(OnEveryRankCount, AMapOfZerosHasNoResidual) {
  SphericalHarmonicTransform transform(comm(), healpix_case(4, 8).spec());
  Analysis analysis(transform, quadrature(transform));
  MapBuffer<double> map = transform.make_map<double>();
  std::fill_n(map.view().data(), map.n_components() * map.size(), 0.0);
  AlmBuffer<double> alm = random_alm(transform);
  const auto zeros = std::as_const(map).view();
  EXPECT_EQ(analysis.jacobi<double>(zeros, 2, alm.view()).residuals, (std::vector<double>{0, 0}));
  EXPECT_EQ(analysis.conjugate_gradients<double>(zeros, 1e-9, 5, alm.view()).iterations, 0);
  EXPECT_EQ(inner_product<double>(comm(), transform.alm_layout(), std::as_const(alm).view(),
                                  std::as_const(alm).view()),
            0);
}

TEST_P(OnEveryRankCount, AnIteratedAnalysisDoesNotDependOnTheNumberOfRanks) {
  SphericalHarmonicTransform transform(comm(), healpix_case(16, 40).spec());
  SphericalHarmonicTransform alone(Communicator::self(), transform.spec());
  const auto analysed = [](SphericalHarmonicTransform& by) {
    Analysis analysis(by, quadrature(by));
    const MapBuffer<double> map = random_map(by);
    AlmBuffer<double> alm = by.make_alm<double>();
    analysis.jacobi<double>(map.view(), 3, alm.view());
    return alm;
  };
  expect_within(
      relative_error(comm(), analysed(transform), my_orders_of(transform, alone, analysed(alone))),
      tolerance::rank_invariance);
}

TEST_P(OnEveryRankCount, AnAnalysisRefusesWhatCannotBe) {
  SphericalHarmonicTransform transform(comm(), healpix_case(8, 20).spec());
  const bool last = comm().rank() == comm().size() - 1;
  AnalysisWeights weights = quadrature(transform);
  if (last) weights.ring.push_back(1);
  EXPECT_THROW(Analysis(transform, weights), UsageError);
  weights = quadrature(transform);
  if (last) weights.pixel.assign(to_size(transform.rings().n_pixels() + 1), 1.0);
  EXPECT_THROW(Analysis(transform, weights), UsageError);

  EXPECT_THROW(Analysis(transform, std::shared_ptr<const AnalysisWeights>()), UsageError);

  Analysis analysis(transform, quadrature(transform));
  const MapBuffer<double> map = random_map(transform);
  AlmBuffer<double> alm = transform.make_alm<double>();
  for (const double wrong : {0.0, 1.0, -1e-3, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(analysis.conjugate_gradients<double>(map.view(), wrong, 10, alm.view()),
                 UsageError);
  }
  MapBuffer<double> long_map(map.n_components(), map.size() + (last ? 1 : 0));
  std::fill_n(long_map.view().data(), long_map.n_components() * long_map.size(), 0.0);
  const auto read_only = std::as_const(long_map).view();
  EXPECT_THROW(analysis.jacobi<double>(read_only, 2, alm.view()), UsageError);
  EXPECT_THROW(analysis.jacobi<double>(map.view(), -1, alm.view()), UsageError);
  EXPECT_THROW(analysis.conjugate_gradients<double>(read_only, 0.1, 2, alm.view()), UsageError);
  EXPECT_THROW(analysis.once_destroying<double>(long_map.view(), alm.view()), UsageError);
  EXPECT_THROW(analysis.once<double>(std::move(long_map)), UsageError);
}

TEST_P(OnEveryRankCount, InnerProductsCountEveryOrderBothWays) {
  SphericalHarmonicTransform transform(comm(),
                                       Case{share(RingGrid::healpix(4)), 6, 5, {0, 1}}.spec());
  const SphericalHarmonicTransform alone(Communicator::self(), transform.spec());
  const AlmBuffer<double> a = random_alm(alone, 1);
  const AlmBuffer<double> b = random_alm(alone, 2);
  double expected = 0;
  for (std::int64_t c = 0; c < 3; ++c) {
    for (int m = -5; m <= 5; ++m) {
      for (int l = std::abs(m); l <= 6; ++l) {
        const std::int64_t i = alone.alm_layout().index(std::abs(m), l);
        expected += (std::conj(a.view().component(c)[i]) * b.view().component(c)[i]).real();
      }
    }
  }
  EXPECT_NEAR(inner_product<double>(comm(), transform.alm_layout(), random_alm(transform, 1).view(),
                                    random_alm(transform, 2).view()),
              expected, 1e-12);
}

}  // namespace
}  // namespace ringweave::detail::test
