// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "base/first_error.hpp"

namespace ringweave::detail::inline base {

/// A second thread that runs tasks in the order they were started. Thread-bound state (its device,
/// its number of OpenMP threads) persists between tasks. Only the owner's thread may start tasks.
class TaskThread {
 public:
  TaskThread();
  /// Waits for the remaining tasks.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  /// Starts `work`; the returned future waits for it and rethrows its error.
  template <class Work>
  std::future<void> begin(Work work) {
    std::packaged_task<void()> task(std::move(work));
    std::future<void> done = task.get_future();
    add(std::move(task));
    return done;
  }

  /// Runs `work` and waits for it. Error  whatever `work` threw.
  template <class Work>
  void run(Work work) {
    begin(std::move(work)).get();
  }

  /// Runs `beside` on this thread while the caller runs `here`; waits for both. Error  whatever
  /// `here` threw, else whatever `beside` threw.
  template <class Beside, class Here>
  void run_both(Beside beside, Here here) {
    std::future<void> done = begin(std::move(beside));
    FirstError error;
    error.guard(std::move(here));
    done.wait();
    error.rethrow();
    done.get();
  }

 private:
  void add(std::packaged_task<void()> task);
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> waiting_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace ringweave::detail::inline base
