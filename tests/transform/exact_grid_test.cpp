// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "ringweave/analysis.hpp"
#include "ringweave/grid.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

template <class T>
RelativeError round_trip_error(SphericalHarmonicTransform& transform) {
  const AlmBuffer<T> alm = random_alm<T>(transform);
  const MapBuffer<T> map = synthesized(transform, alm);
  return relative_error(transform.comm(),
                        adjoint_of(transform, map, ring_weights(transform.rings())), alm);
}

TEST_P(OnEveryRankCount, AnalysisUndoesSynthesisOnExactGrids) {
  for (const Case& chosen : exact_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    expect_within(round_trip_error<double>(transform), tolerance::round_trip);
  }
}

TEST_P(OnEveryRankCount, SinglePrecisionStorageKeepsSixDigitsOverARoundTrip) {
  for (const Case& chosen : exact_cases()) {
    if (chosen.lmax != 32 && chosen.lmax != 127) continue;
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    expect_within(round_trip_error<float>(transform), tolerance::single_storage);
  }
}

TEST_P(OnEveryRankCount, TheMapHoldsThePowerOfItsAlmOnExactGrids) {
  for (const Case& chosen : exact_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    const AlmBuffer<double> alm = random_alm(transform);
    const MapBuffer<double> map = synthesized(transform, alm);
    double local = 0;
    for (std::int64_t r = 0; r < transform.rings().n_rings(); ++r) {
      const Ring& ring = transform.rings().ring(LocalRing{r});
      double sum = 0;
      for (std::int64_t c = 0; c < map.n_components(); ++c) {
        const double* const f =
            map.view().component(c).data() + transform.rings().first_pixel(LocalRing{r});
        for (std::int64_t j = 0; j < ring.n_phi; ++j) sum += f[j] * f[j];
      }
      local += ring.weight * sum;
    }
    const double power =
        inner_product<double>(comm(), transform.alm_layout(), alm.view(), alm.view());
    EXPECT_NEAR(comm().sum(local), power, tolerance::round_trip * power);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
