// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/cuda/plane_values.hpp"
#include "gyro/dct_plan.hpp"
#include "gyro/gyro_problem.hpp"
#include "gyro/radius_problem.hpp"
#include "support/emulated_block.hpp"

// Launches on planes that a device has, as loops.
namespace ringweave::detail::test {
namespace {

using Machine = gpu::EmulatedMachine;

template <class T>
PlaneFindings inspected(const std::vector<T>& plane, const PlaneEdge& edge) {
  Machine machine;
  gpu::PlaneInspection<Machine> inspection(machine);
  const std::int64_t n_parts = inspection.begin(plane.data(), ssize64(plane), edge);
  EXPECT_LE(n_parts, gpu::PlaneInspection<Machine>::most_parts);
  return gpu::together(inspection.parts(), n_parts, ssize64(plane));
}

TEST(EmulatedPlaneValues, InspectionFindsWhatIsNotFinite) {
  // Of the second size every thread has several values.
  for (const std::int64_t size : {7, 70'001}) {
    std::vector<double> plane = random_values(size, 3);
    EXPECT_EQ(inspected(plane, {}).n_not_finite, 0);
    plane[to_size(size - 1)] = std::numeric_limits<double>::infinity();
    plane[to_size(size - 4)] = std::nan("");
    plane[2] = std::numeric_limits<double>::max();
    const PlaneFindings found = inspected(plane, {});
    EXPECT_EQ(found.n_not_finite, 2);
    EXPECT_EQ(found.first_not_finite, size - 4);
    EXPECT_EQ(found.largest, std::numeric_limits<double>::max());
    EXPECT_EQ(found.largest_at_edge, 0);
  }
  EXPECT_EQ(
      inspected(std::vector<float>{1, std::numeric_limits<float>::infinity()}, {}).first_not_finite,
      1);
}

TEST(EmulatedPlaneValues, InspectionFindsTheIndicatorOfMethodDct) {
  for (const PlaneBoundary x : {PlaneBoundary::zero, PlaneBoundary::periodic}) {
    for (const PlaneBoundary y : {PlaneBoundary::zero, PlaneBoundary::mirror}) {
      const PlaneGrid grid{plane_axis(211, x), plane_axis(173, y)};
      const std::vector<double> plane = random_values(grid.n_nodes(), 4);
      const PlaneFindings found = inspected(plane, edge_of(grid));
      EXPECT_EQ(found.largest_at_edge / found.largest,
                edge_indicator(grid, ComponentView<const double>(plane.data(), 1, ssize64(plane))));
    }
  }
}

TEST(EmulatedPlaneValues, AreConvertedPlaneByPlane) {
  const std::vector<double> values = random_values(2100, 5);
  std::vector<float> floats(2103, 7);
  Machine machine;
  const gpu::RowPieces pieces{2, 1050};
  machine.launch(
      gpu::ConvertPlanes<double, float>{pieces, values.data(), 1050, floats.data(), 1053},
      pieces.n_blocks());
  for (std::int64_t i = 0; i < 1050; ++i) {
    EXPECT_EQ(floats[to_size(i)], static_cast<float>(values[to_size(i)]));
    EXPECT_EQ(floats[to_size(1053 + i)], static_cast<float>(values[to_size(1050 + i)]));
  }
  for (std::int64_t i = 1050; i < 1053; ++i) EXPECT_EQ(floats[to_size(i)], 7);
}

}  // namespace
}  // namespace ringweave::detail::test
