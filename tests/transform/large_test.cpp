// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ringweave/grid.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int lmax = 2048;

class LargeTransform : public testing::TestWithParam<std::vector<int>> {
 protected:
  static SphericalHarmonicTransform on(RingGrid grid) {
    return {Communicator::self(), Case{share(std::move(grid)), lmax, lmax, GetParam()}.spec()};
  }
};

TEST_P(LargeTransform, AnalysisUndoesSynthesisOnAGaussLegendreGridOfLmax2048) {
  SphericalHarmonicTransform transform = on(RingGrid::gauss_legendre(lmax + 1));
  MapBuffer<double> map = transform.synthesize<double>(random_alm(transform));
  const AlmBuffer<double> alm =
      transform.adjoint<double>(std::move(map), ring_weights(transform.rings()));
  expect_within(relative_error(Communicator::self(), alm, random_alm(transform)),
                tolerance::round_trip);
}

TEST_P(LargeTransform, AdjointSynthesisIsTheAdjointAtLmax2048) {
  SphericalHarmonicTransform transform = on(RingGrid::healpix(lmax / 2));
  EXPECT_LE(adjoint_gap<double>(transform), tolerance::adjoint);
}

INSTANTIATE_TEST_SUITE_P(Spins, LargeTransform,
                         testing::Values(std::vector<int>{0}, std::vector<int>{1},
                                         std::vector<int>{2}, std::vector<int>{3},
                                         std::vector<int>{0, 2}),
                         [](const auto& fields) {
                           std::string name = "Spins";
                           for (const int spin : fields.param) name += std::to_string(spin);
                           return name;
                         });

}  // namespace
}  // namespace ringweave::detail::test
