// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/checked_cast.hpp"

namespace ringweave::test {

/// A device for StagedExchange, on the host, as lazy as a device may be: nothing is done until
/// something waits for it, so a wait that is missing shows as a wrong number.
class QueuedMemory {
 public:
  using Value = std::complex<double>;
  using Staging = std::vector<Value>;

  Staging stage(std::int64_t n) {
    staged += n;
    return Staging(to_size(n), {1e300, 1e300});
  }
  void down(const Value* from, Value* to, std::int64_t n) { copy_later(copies_, from, to, n); }
  void up(const Value* from, Value* to, std::int64_t n) { copy_later(copies_, from, to, n); }
  void keep(const Value* from, Value* to, std::int64_t n) { copy_later(work_, from, to, n); }
  void copies_follow_work() { follow(copies_, work_); }
  void work_follows_copies() { follow(work_, copies_); }
  void wait_for_copies() { run(copies_, copies_.tasks.size()); }
  void wait_for_work() { run(work_, work_.tasks.size()); }

  void work(std::function<void()> task) { work_.tasks.push_back(std::move(task)); }

  std::int64_t staged = 0;  ///< numbers in staging buffers so far

 private:
  struct Queue {
    std::vector<std::function<void()>> tasks;
    std::size_t done = 0;
  };
  static void run(Queue& queue, std::size_t end) {
    // A task may let the other queue run, which may wait for this one up to an earlier task.
    while (queue.done < end) {
      const auto task = queue.tasks[queue.done];
      task();
      ++queue.done;
    }
  }
  static void follow(Queue& later, Queue& earlier) {
    later.tasks.push_back([&earlier, end = earlier.tasks.size()] { run(earlier, end); });
  }
  static void copy_later(Queue& queue, const Value* from, Value* to, std::int64_t n) {
    queue.tasks.push_back([=] { std::copy_n(from, n, to); });
  }

  Queue work_;
  Queue copies_;
};

}  // namespace ringweave::test
