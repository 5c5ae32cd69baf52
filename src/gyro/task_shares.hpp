// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline gyro {

/// Consecutive tasks in one share for each worker. Who has done its share takes the last task of
/// the longest one that is left: no worker waits for another that has longer tasks. next() may be
/// called by several threads at a time; it allocates nothing.
class TaskShares {
 public:
  explicit TaskShares(int n_workers) : left_(to_size(n_workers)) {}

  void begin(std::int64_t n_tasks) {
    const std::int64_t n_workers = ssize64(left_);
    for (std::int64_t w = 0; w < n_workers; ++w)
      left_[to_size(w)] = {n_tasks * w / n_workers, n_tasks * (w + 1) / n_workers};
  }
  /// Returns the next task of a worker; -1: none is left.
  std::int64_t next(std::int64_t worker) {
    const std::scoped_lock lock(mutex_);
    Share& own = left_[to_size(worker)];
    if (own.count() > 0) return own.begin++;
    Share& longest =
        *std::max_element(left_.begin(), left_.end(),
                          [](const Share& a, const Share& b) { return a.count() < b.count(); });
    return longest.count() > 0 ? --longest.end : -1;
  }

 private:
  struct Share {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t count() const { return end - begin; }
  };
  std::mutex mutex_;
  std::vector<Share> left_;
};

}  // namespace ringweave::detail::inline gyro
