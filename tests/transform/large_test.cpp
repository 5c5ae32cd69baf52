// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <utility>

#include "sphere/healpix_weights.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::test {
namespace {

TEST(LargeTransform, AnalysisUndoesSynthesisOnAGaussLegendreGridOfLmax2048) {
  constexpr int lmax = 2048;
  SphericalHarmonicTransform transform(
      Communicator::self(),
      Case{share(RingGrid::gauss_legendre(lmax + 1)), lmax, lmax, {0, 2}}.spec());
  MapBuffer<double> map = transform.synthesize<double>(random_alm(transform));
  const AlmBuffer<double> alm =
      transform.adjoint<double>(std::move(map), ring_weights(transform.rings()));
  expect_within(relative_error(Communicator::self(), alm, random_alm(transform)),
                tolerance::round_trip);
}

}  // namespace
}  // namespace ringweave::test
