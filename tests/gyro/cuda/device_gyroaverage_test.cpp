// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/device.hpp"
#include "gyro/gyro_problem.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

// Gyroaverages on a device against the host's. Ranks of one launch share the available devices.
namespace ringweave::detail::test {
namespace {

/// Relative to the host, double precision.
constexpr double as_the_host = 1e-12;

class GyroaveragesOnDevices : public OnEveryRankCount {
 protected:
  void SetUp() override {
    OnEveryRankCount::SetUp();
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_obstacle();
    choose_device(Communicator::world().node_local().rank());
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, GyroaveragesOnDevices, every_rank_count(), name_of_rank_groups);

double rms_difference(const std::vector<double>& found, const std::vector<double>& expected) {
  double gap = 0;
  double all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    gap += std::pow(found[i] - expected[i], 2);
    all += expected[i] * expected[i];
  }
  return std::sqrt(gap / all);
}

template <class T>
void expect_as_the_host(const Communicator& comm, GyroSpec spec, double bound) {
  Gyroaverage host(comm, spec);
  spec.backend = Backend::cuda;
  Gyroaverage device(comm, spec);
  for (const GyroCall call : all_gyro_calls) {
    SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(spec.method) << ", call "
                                    << static_cast<int>(call));
    const std::vector<double> in = random_values(values_of(spec, input_of(call)), 5);
    const std::vector<double> expected = run_call<T>(comm, host, call, in);
    const std::vector<double> found = run_call<T>(comm, device, call, in);
    EXPECT_LE(rms_difference(found, expected), bound);
    EXPECT_EQ(run_call<T>(comm, device, call, in), found) << "differs from run to run";
    EXPECT_NEAR(device.indicator(), host.indicator(), as_the_host * host.indicator());
  }
}

GyroSpec rectangle(GyroMethod method, std::vector<double> radii, std::int64_t n_fields) {
  GyroSpec spec = gyro_spec(method, 13, 11, std::move(radii), n_fields);
  spec.grid.y.last = 0.7;
  return spec;
}

TEST_P(GyroaveragesOnDevices, AreThoseOfTheHostInASmallCase) {
  for (const GyroMethod method : all_gyro_methods)
    expect_as_the_host<double>(comm(), rectangle(method, {0.3, 0.9}, 2), as_the_host);
}

TEST_P(GyroaveragesOnDevices, AreThoseOfTheHostOnMirroredAndPeriodicAxes) {
  for (const GyroMethod method : all_gyro_methods) {
    if (method == GyroMethod::chebyshev) continue;
    GyroSpec spec = rectangle(method, {0, 0.35}, 1);
    spec.grid.x.boundary = PlaneBoundary::mirror;
    spec.grid.y.boundary = PlaneBoundary::periodic;
    expect_as_the_host<double>(comm(), spec, as_the_host);
    std::swap(spec.grid.x.boundary, spec.grid.y.boundary);
    expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
  }
}

TEST_P(GyroaveragesOnDevices, OfManyFieldsAndRadiiAreThoseOfTheHost) {
  for (const GyroMethod method : all_gyro_methods)
    expect_as_the_host<double>(comm(), gyro_spec(method, 24, 24, {0.1, 0.8, 5, 1.7}, 9),
                               as_the_host);
}

}  // namespace
}  // namespace ringweave::detail::test
