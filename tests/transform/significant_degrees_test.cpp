// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/significant_degrees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "ringweave/grid.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail {
namespace {

double summed_degrees(const RingGrid& grid, const ModeLimits& limits, int m) {
  const double margin = std::max(100.0, 0.01 * limits.lmax());
  double degrees = 0;
  for (const RingPair& pair : grid.pairs()) {
    const std::int64_t ring = pair.north != RingPair::none ? pair.north : pair.south;
    if (!limits.kept(m).contains(ring)) continue;
    const double first = pair.sin_theta > 0 ? (m - margin) / pair.sin_theta : m;
    degrees += std::max(0.0, limits.lmax() + 1 - std::max<double>(m, first));
  }
  return degrees;
}

void expect_sums(const RingGrid& grid, int lmax, int max_spin) {
  const ModeLimits limits(grid, lmax, lmax, max_spin);
  const SignificantDegrees degrees(grid, limits);
  for (int m = 0; m <= lmax; ++m) {
    const double expected = summed_degrees(grid, limits, m);
    EXPECT_NEAR(degrees.of(m), expected, 1e-12 * (expected + lmax)) << grid.name() << ", m = " << m;
  }
}

TEST(SignificantDegrees, AreThoseOfAllPairs) {
  for (const char* name : {"healpix:1", "healpix:64", "gauss:300", "clenshaw:301", "fejer:400"}) {
    const RingGrid grid = RingGrid::from_name(name);
    for (const int lmax : {0, 5, 350}) expect_sums(grid, lmax, 0);
    expect_sums(grid, 350, 2);
  }
}

TEST(SignificantDegrees, CountRingsOfOneSideToo) {
  const RingGrid full = RingGrid::healpix(128);
  std::vector<RingId> south;
  std::vector<RingId> mixed;
  for (std::int64_t r = 0; r < full.n_rings(); ++r) {
    if (r > 300) south.push_back(RingId{r});
    if (r % 7 != 3 && r % 5 != 1) mixed.push_back(RingId{r});
  }
  for (const auto& kept : {south, mixed}) expect_sums(full.subset(kept), 383, 2);
}

}  // namespace
}  // namespace ringweave::detail
