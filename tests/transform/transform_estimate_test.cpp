// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_estimate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail {
namespace {

double work_on(const std::string& grid, int lmax, ThetaRoute route = ThetaRoute::automatic) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::from_name(grid));
  spec.lmax = spec.mmax = lmax;
  spec.theta = route;
  return work_of(TransformPlan(spec, 0, 1), 1).legendre_work;
}

TEST(TransformEstimate, CountsTheSumsAsTheyAreFormed) {
  EXPECT_NEAR(work_on("healpix:1024", 2048), 1, 0.01) << "what machines are measured with";
  EXPECT_DOUBLE_EQ(work_on("healpix:1024", 128), 1) << "few degrees are summed on all rings";
  EXPECT_GT(work_on("healpix:1024", 3071), 1.3) << "more equidistant rings";
  EXPECT_LT(work_on("healpix:1024", 1024), 0.8) << "fewer equidistant rings";
  EXPECT_GT(work_on("gauss:2048", 2048), 1.4) << "no ring to spare";
  EXPECT_GT(work_on("healpix:1024", 2048, ThetaRoute::direct), 1.4);
}

}  // namespace
}  // namespace ringweave::detail
