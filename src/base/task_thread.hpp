// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "base/first_error.hpp"

namespace ringweave {

/// A thread beside its owner's that does one piece of work after the other, in the order they were
/// begun. What is bound to a thread (its device, its number of OpenMP threads) stays from piece to
/// piece. Its owner's thread begins all of them.
class TaskThread {
 public:
  TaskThread();
  /// Waits for the work that is left.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  /// The future waits for the work and throws what that threw.
  template <class Work>
  std::future<void> begin(Work work) {
    std::packaged_task<void()> task(std::move(work));
    std::future<void> done = task.get_future();
    add(std::move(task));
    return done;
  }

  /// Waits for the work too. Error  what it threw.
  template <class Work>
  void run(Work work) {
    begin(std::move(work)).get();
  }

  /// `beside` there while the caller does `here`; waits for both. Error  what `here` threw, else
  /// what `beside` did.
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

}  // namespace ringweave
