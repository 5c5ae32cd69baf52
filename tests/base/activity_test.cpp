// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/activity.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/stage_timer.hpp"

namespace ringweave::detail::test {
namespace {

class WatchedActivity : public testing::Test {
 protected:
  void SetUp() override { activity().watch_this_thread(); }
  void TearDown() override {
    activity().name_work("");
    activity().end_watch();
  }
  static Activity& activity() { return Activity::of_process(); }
};

TEST_F(WatchedActivity, NamesTheInnermostStageAndTheCall) {
  activity().name_work("smoothing sky.h5");
  {
    const StageTimer outer(nullptr, "analysis");
    {
      const StageTimer inner(nullptr, "legendre");
      const ActivityMark wait(ActivityMark::Of::call, "MPI_Bcast");
      EXPECT_EQ(activity().names().work, "smoothing sky.h5");
      EXPECT_EQ(activity().names().stage, "legendre");
      EXPECT_EQ(activity().names().call, "MPI_Bcast");
    }
    EXPECT_EQ(activity().names().stage, "analysis");
    EXPECT_EQ(activity().names().call, "");
  }
  EXPECT_EQ(activity().names().stage, "");
}

TEST_F(WatchedActivity, AStageThatBeginsOrEndsIsAStepOfAnyThread) {
  const std::uint64_t before = activity().steps();
  {
    const StageTimer timer(nullptr, "read");
    EXPECT_EQ(activity().steps(), before + 1);
  }
  EXPECT_EQ(activity().steps(), before + 2);
  std::thread([] { Activity::of_process().step(); }).join();
  EXPECT_EQ(activity().steps(), before + 3);
}

TEST_F(WatchedActivity, StagesOfOtherThreadsHaveNoNames) {
  const StageTimer timer(nullptr, "analysis");
  std::thread([] {
    const StageTimer other(nullptr, "write");
    EXPECT_EQ(activity().names().stage, "analysis");
  }).join();
  EXPECT_EQ(activity().names().stage, "analysis");
}

TEST(Activity, HasNoNamesWhereNobodyWatches) {
  const StageTimer timer(nullptr, "analysis");
  EXPECT_EQ(Activity::of_process().names().stage, "");
}

}  // namespace
}  // namespace ringweave::detail::test
