// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gyro/cuda/radius_plan.hpp"
#include "gyro/cuda/radius_sequence.hpp"
#include "gyro/radius_problem.hpp"
#include "support/emulated_block.hpp"
#include "support/tolerance.hpp"

// The launches of averages with a radius for each node as loops, against the host's.
namespace ringweave::detail::test {
namespace {

void expect_as_the_host(const RadiusProblem& problem) {
  const Interpolation interpolation =
      problem.method == GyroMethod::bilinear ? Interpolation::bilinear : Interpolation::bicubic;
  const gpu::RadiusPlan plan(problem.grid, interpolation, problem.radii, problem.row_begin,
                             problem.row_end);
  gpu::EmulatedMachine machine;
  gpu::RadiusSequence<gpu::EmulatedMachine> sequence(plan, problem.n_fields, machine);
  std::vector<double> averages(problem.results.size(), 5);
  sequence.average(problem.n_fields, problem.fields.data(), averages.data());
  if (problem.n_targets() > 0) {
    EXPECT_LE(largest_error(averages, problem.average(Backend::host)), tolerance::gyroaverage);
  }
  std::vector<double> fields(problem.fields.size(), 5);
  sequence.transpose(problem.n_fields, problem.results.data(), fields.data());
  for (double& value : fields) value += 1;
  EXPECT_LE(largest_error(fields, problem.transpose(Backend::host)), tolerance::gyroaverage);
}

TEST(EmulatedRadiusField, IsTheHostsForAllBoundaries) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    for (const PlaneGrid& grid : rectangles_for_radii()) {
      SCOPED_TRACE(testing::Message()
                   << "method " << static_cast<int>(method) << ", boundaries "
                   << static_cast<int>(grid.x.boundary) << static_cast<int>(grid.y.boundary));
      expect_as_the_host({grid, method, 2});
      expect_as_the_host({grid, method, 1, 3, 8});
    }
  }
}

// More than go together; a radius that many images of a small axis are in.
TEST(EmulatedRadiusField, OfManyFieldsAndLargeRadiiIsTheHosts) {
  const PlaneGrid grid{plane_axis(11, PlaneBoundary::mirror), plane_axis(10, PlaneBoundary::zero)};
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    expect_as_the_host({grid, method, 8});
    expect_as_the_host({grid, method, 5});
    RadiusProblem large({grid.y, grid.x}, method, 1);
    large.radii[4] = 31.5;
    expect_as_the_host(large);
  }
}

TEST(EmulatedRadiusField, WithoutTargetsGivesNothing) {
  const PlaneGrid grid{plane_axis(12, PlaneBoundary::zero), plane_axis(10, PlaneBoundary::zero)};
  expect_as_the_host({grid, GyroMethod::bicubic, 1, 4, 4});
}

}  // namespace
}  // namespace ringweave::detail::test
