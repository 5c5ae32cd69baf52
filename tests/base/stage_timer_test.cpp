// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/stage_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "ringweave/execution.hpp"

namespace ringweave::detail::test {
namespace {

TEST(StageTimer, AddsSecondsAndCallsToItsStage) {
  StageTimes times;
  for (int call = 0; call < 3; ++call) {
    const StageTimer timer(&times, "legendre");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_GE(times.seconds("legendre"), 0.006);
  EXPECT_EQ(times.entries().at("legendre").calls, 3);
  EXPECT_EQ(times.seconds("exchange"), 0);
  EXPECT_EQ(times.entries().size(), 1u);
  times.clear();
  EXPECT_TRUE(times.entries().empty());
}

TEST(StageTimer, CountsAStageThatThrew) {
  StageTimes times;
  try {
    const StageTimer timer(&times, "read");
    throw 7;
  } catch (int) {
  }
  EXPECT_EQ(times.entries().at("read").calls, 1);
}

TEST(StageTimer, NeedsNoTable) { EXPECT_NO_THROW(StageTimer(nullptr, "read")); }

}  // namespace
}  // namespace ringweave::detail::test
