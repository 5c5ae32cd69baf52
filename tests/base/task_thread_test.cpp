// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/task_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ringweave::detail {
namespace {

TEST(TaskThread, DoesItsWorkInOrderOnOneThread) {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  TaskThread side;
  for (int i = 0; i < 20; ++i) {
    side.begin([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  side.run([] {});
  ASSERT_EQ(order.size(), 20U);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(threads[static_cast<std::size_t>(i)], threads.front());
  }
  EXPECT_NE(threads.front(), std::this_thread::get_id());
}

TEST(TaskThread, WorksWhileItsOwnerDoes) {
  TaskThread side;
  std::promise<void> here;
  std::promise<void> there;
  // Each task waits for the other: run one after the other they would never end.
  side.run_both(
      [&] {
        there.set_value();
        here.get_future().wait();
      },
      [&] {
        here.set_value();
        there.get_future().wait();
      });
}

TEST(TaskThread, ThrowsWhatWorkThrewAndGoesOn) {
  TaskThread side;
  const auto fail = [](const char* what) { return [what] { throw std::runtime_error(what); }; };
  const auto message_of = [](const auto& work) {
    try {
      work();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message_of([&] { side.run(fail("there")); }), "there");
  EXPECT_EQ(message_of([&] { side.run_both(fail("there"), [] {}); }), "there");
  EXPECT_EQ(message_of([&] { side.run_both([] {}, fail("here")); }), "here");
  EXPECT_EQ(message_of([&] { side.run_both(fail("there"), fail("here")); }), "here");
  bool done = false;
  side.run([&] { done = true; });
  EXPECT_TRUE(done);
}

TEST(TaskThread, FinishesWhatIsLeftAndFreesWhatItHeld) {
  std::atomic<int> n_done = 0;
  std::weak_ptr<int> held;
  {
    TaskThread side;
    auto value = std::make_shared<int>(7);
    held = value;
    for (int i = 0; i < 50; ++i) side.begin([&n_done, value] { n_done += *value > 0 ? 1 : 0; });
  }
  EXPECT_EQ(n_done, 50);
  EXPECT_TRUE(held.expired());
}

}  // namespace
}  // namespace ringweave::detail
