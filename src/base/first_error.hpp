// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace ringweave::detail::inline base {

/// Keeps the first exception thrown inside an OpenMP region, which no exception may leave, and
/// rethrows it after the region.
///
///   FirstError error;
///   #pragma omp parallel for
///   for (...) error.guard([&] { work(); });
///   error.rethrow();
class FirstError {
 public:
  /// Runs `work` unless an error was already kept. Thread safe.
  template <class Work>
  void guard(Work&& work) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      std::forward<Work>(work)();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }
  /// Rethrows the kept error, if any, and forgets it. To be called outside the region.
  void rethrow() {
    failed_.store(false, std::memory_order_relaxed);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }
  void forget() {
    failed_.store(false, std::memory_order_relaxed);
    error_ = nullptr;
  }

 private:
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace ringweave::detail::inline base
