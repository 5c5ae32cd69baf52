// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/device_point_sums.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "nonuniform/cuda/point_sums_problem.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

class DevicePointSumsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
    choose_device(0);
  }
};

/// Returns some numbers on a device.
DeviceBuffer<double> uploaded(const Values& values, const DeviceStream& stream) {
  DeviceBuffer<double> buffer(ssize64(values));
  copy_to_device(values.data(), buffer.data(), buffer.bytes(), stream);
  stream.synchronize();
  return buffer;
}

Values downloaded(const DeviceBuffer<double>& buffer, const DeviceStream& stream) {
  Values values(to_size(buffer.size()));
  copy_to_host(buffer.data(), values.data(), buffer.bytes(), stream);
  stream.synchronize();
  return values;
}

void expect_as_the_host(const PointSumsProblem& problem) {
  constexpr std::int64_t n = PointSumsProblem::n_components;
  const std::int64_t n_points = problem.n_points();
  const DeviceStream stream;
  const auto sums = make_device_point_sums(problem.taps(), problem.points(), stream);
  const auto all = [&](DeviceBuffer<double>& buffer, std::int64_t size) {
    return DevicePointSums::Components<double>(buffer.data(), n, size);
  };
  DeviceBuffer<double> rows = uploaded(problem.rows(), stream);
  DeviceBuffer<double> values = uploaded(problem.values(), stream);
  DeviceBuffer<double> found(rows.size());
  sums->spread(all(values, n_points), all(found, problem.row_size()));
  EXPECT_LE(relative_gap(downloaded(found, stream), problem.spread()), tolerance::rank_invariance);
  sums->interpolate(all(rows, problem.row_size()), all(values, n_points));
  EXPECT_LE(relative_gap(downloaded(values, stream), problem.interpolated()),
            tolerance::rank_invariance);
}

TEST_F(DevicePointSumsTest, AreThoseOfTheHostInASmallCase) {
  const auto has_row = [](std::int64_t row) { return row != 3; };
  expect_as_the_host({{24, 36, 8, 8}, 70, has_row});
  expect_as_the_host({{20, 36, 5, 9}, 40, has_row});
}

TEST_F(DevicePointSumsTest, AreThoseOfTheHostOnLongRows) {
  expect_as_the_host({{40, 300, 11, 7}, 200, [](std::int64_t) { return true; }});
}

}  // namespace
}  // namespace ringweave::detail::test
