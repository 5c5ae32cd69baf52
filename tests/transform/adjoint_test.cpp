// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

TEST_P(OnEveryRankCount, AdjointSynthesisIsTheAdjoint) {
  for (const Case& chosen : covering_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    EXPECT_LE(adjoint_gap<double>(transform), tolerance::adjoint);
  }
}

TEST_P(OnEveryRankCount, AdjointSynthesisOfSinglePrecisionStorageIsTheAdjoint) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    EXPECT_LE(adjoint_gap<float>(transform), tolerance::single_storage);
  }
}

TEST_P(OnEveryRankCount, RingWeightsMultiplyThePixelsOfTheirRing) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    const LocalRings& rings = transform.rings();
    std::vector<double> weights;
    MapBuffer<double> map = random_map(transform);
    MapBuffer<double> weighted = copy_of(map);
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      weights.push_back(1 + 0.1 * static_cast<double>(index(rings.global(LocalRing{r}))));
      for (std::int64_t c = 0; c < map.n_components(); ++c) {
        double* const first = weighted.view().component(c).data() + rings.first_pixel(LocalRing{r});
        for (std::int64_t j = 0; j < rings.ring(LocalRing{r}).n_phi; ++j)
          first[j] *= weights.back();
      }
    }
    expect_within(relative_error(comm(), adjoint_of(transform, map, weights),
                                 adjoint_of(transform, weighted)),
                  tolerance::rank_invariance);
  }
}

TEST_P(OnEveryRankCount, DegreesBelowTheSpinAndImaginaryPartsOfOrderZeroCountForNothing) {
  SphericalHarmonicTransform transform(comm(),
                                       Case{share(RingGrid::healpix(4)), 9, 9, {3, 0}}.spec());
  const AlmBuffer<double> alm = random_alm(transform);
  AlmBuffer<double> noisy = copy_of(alm);
  const AlmLayout& layout = transform.alm_layout();
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const int m = layout.order(row);
    for (int l = m; l < 3; ++l) {
      noisy.view().component(0)[layout.index(row, l)] += std::complex<double>(3, 2);
      noisy.view().component(1)[layout.index(row, l)] -= std::complex<double>(1, 5);
    }
    for (int l = 0; m == 0 && l <= layout.lmax(); ++l) {
      for (std::int64_t c = 0; c < 3; ++c)
        noisy.view().component(c)[layout.index(row, l)] += std::complex<double>(0, 7);
    }
  }
  expect_within(relative_error(comm(), synthesized(transform, noisy), synthesized(transform, alm)),
                tolerance::rank_invariance);
}

}  // namespace
}  // namespace ringweave::detail::test
