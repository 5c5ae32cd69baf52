// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/file_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::test {
namespace {

class FileQueueTest : public testing::TestWithParam<FileQueue::Mode> {
 protected:
  Communicator comm_ = Communicator::world();
  FileQueue queue_{comm_, GetParam()};
};

TEST_P(FileQueueTest, HasAThreadWhereMpiAllowsIt) {
  const bool beside = GetParam() == FileQueue::Mode::beside && threads_may_call_mpi();
  EXPECT_EQ(queue_.mode(), beside ? FileQueue::Mode::beside : FileQueue::Mode::at_once);
}

TEST_P(FileQueueTest, DoesCollectiveTasksInTheOrderTheyWereAdded) {
  std::vector<std::int64_t> done;
  for (std::int64_t i = 0; i < 20; ++i) {
    queue_.add([&done, i](FileTraffic& traffic) {
      done.push_back(traffic.comm.max(i));
      traffic.bytes_written += i;
    });
    comm_.barrier();  // MPI is now in use on both threads
  }
  queue_.finish();
  ASSERT_EQ(done.size(), 20U);
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(queue_.traffic().bytes_written, 190);
}

TEST_P(FileQueueTest, WaitingForATaskIsWaitingForThoseBeforeIt) {
  std::atomic<int> done = 0;
  for (int i = 1; i <= 5; ++i) {
    const FileQueue::Ticket ticket = queue_.add([&](FileTraffic&) { ++done; });
    EXPECT_EQ(ticket, i);
    if (i == 3) {
      queue_.wait(ticket);
      EXPECT_GE(done, 3);
    }
  }
  queue_.finish();
  EXPECT_EQ(done, 5);
}

TEST_P(FileQueueTest, WhatATaskThrewIsThrownForItAndThoseAfterIt) {
  const FileQueue::Ticket before = queue_.add([](FileTraffic&) {});
  const FileQueue::Ticket failed =
      queue_.add([](FileTraffic&) { throw DataError("map.h5", "is cut short"); });
  bool is_done = false;
  const FileQueue::Ticket after = queue_.add([&](FileTraffic&) { is_done = true; });
  EXPECT_THROW(queue_.wait(after), DataError);
  EXPECT_THROW(queue_.wait(failed), DataError);
  EXPECT_NO_THROW(queue_.wait(before));
  EXPECT_THROW(queue_.finish(), DataError);
  EXPECT_FALSE(is_done) << "a task that throws is the last one";
}

TEST_P(FileQueueTest, WhatATaskHoldsIsFreedBeforeItCountsAsDone) {
  for (const bool fails : {false, true, false}) {  // the last one is skipped
    auto map = std::make_shared<int>(0);
    const std::weak_ptr<int> freed = map;
    const FileQueue::Ticket ticket = queue_.add([map = std::move(map), fails](FileTraffic&) {
      if (fails) throw DataError("map.h5", "is cut short");
    });
    try {
      queue_.wait(ticket);
    } catch (const DataError&) {
    }
    EXPECT_TRUE(freed.expired());
  }
}

TEST_P(FileQueueTest, TheEndWaitsForTheTasksThatAreLeft) {
  std::atomic<int> done = 0;
  {
    FileQueue queue(comm_, GetParam());
    for (int i = 0; i < 5; ++i) {
      queue.add([&](FileTraffic& traffic) {
        traffic.comm.barrier();
        ++done;
      });
    }
  }
  EXPECT_EQ(done, 5);
}

INSTANTIATE_TEST_SUITE_P(Modes, FileQueueTest,
                         testing::Values(FileQueue::Mode::beside, FileQueue::Mode::at_once),
                         [](const auto& mode) {
                           return mode.param == FileQueue::Mode::beside ? "Beside" : "AtOnce";
                         });

}  // namespace
}  // namespace ringweave::detail::test
