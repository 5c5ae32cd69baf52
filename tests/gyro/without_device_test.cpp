// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "base/device.hpp"
#include "gyro/gyro_problem.hpp"
#include "gyro/radius_problem.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

TEST(GyroaveragesWithoutADevice, AreRefusedOnAllRanks) {
  if (device_count() > 0) GTEST_SKIP() << "there is a device";
  for (const GyroMethod method : all_gyro_methods) {
    GyroSpec spec = gyro_spec(method, 13, 11, {0.3}, 1);
    spec.backend = Backend::cuda;
    expect_error(cuda_version().empty() ? ErrorKind::usage : ErrorKind::resource,
                 "choose the host backend", [&] { Gyroaverage(Communicator::world(), spec); });
  }
  const RadiusProblem problem(gyro_spec(GyroMethod::bicubic, 13, 11, {}, 1).grid,
                              GyroMethod::bicubic, 1);
  for (const bool is_average : {true, false}) {
    expect_error(
        cuda_version().empty() ? ErrorKind::usage : ErrorKind::resource, "choose the host backend",
        [&] { is_average ? problem.average(Backend::cuda) : problem.transpose(Backend::cuda); });
  }
}

TEST(GyroaveragesWithoutADevice, RefuseFieldsInItsMemory) {
  GyroSpec spec = gyro_spec(GyroMethod::bicubic, 13, 11, {0.3}, 1);
  spec.data = MemorySpace::device;
  expect_error(ErrorKind::usage, "choose the CUDA backend",
               [&] { Gyroaverage(Communicator::world(), spec); });
  spec.data = MemorySpace::pinned;
  expect_error(ErrorKind::usage, "data of the specification is pinned memory",
               [&] { Gyroaverage(Communicator::world(), spec); });
}

}  // namespace
}  // namespace ringweave::detail::test
