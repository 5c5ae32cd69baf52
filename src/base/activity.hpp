// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace ringweave::detail::inline base {

/// Tells what this process does to a thread that watches whether it makes progress. Steps of all
/// threads count; names are those of the thread that is watched. Thread safe.
class Activity {
 public:
  Activity() = default;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  /// Returns that of this process.
  static Activity& of_process();

  /// Counts a step of the work.
  void step() { steps_.fetch_add(1, std::memory_order_relaxed); }
  /// Names the work under way, in words for the user. Counts as a step.
  void name_work(const std::string& name);

  /// Takes names of stages and calls from the calling thread and from no other.
  void watch_this_thread();
  /// Takes them from no thread. Called by the one that is watched.
  void end_watch();

  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// Names of the work, of its stage, and of the call in which the watched thread waits for other
  /// ranks; each may be empty.
  struct Names {
    std::string work, stage, call;
  };
  Names names() const;

 private:
  friend class ActivityMark;

  std::atomic<std::uint64_t> steps_{0};
  std::atomic<const char*> stage_{nullptr};
  std::atomic<const char*> call_{nullptr};
  mutable std::mutex mutex_;  // protects work_
  std::string work_;
};

/// Names, while it exists, the stage of the watched thread, or the call in which it waits for other
/// ranks. Its begin and its end are steps of any thread.
class ActivityMark {
 public:
  enum class Of { stage, call };
  /// `name` is a literal.
  ActivityMark(Of of, const char* name);
  ~ActivityMark();
  ActivityMark(const ActivityMark&) = delete;
  ActivityMark& operator=(const ActivityMark&) = delete;

 private:
  std::atomic<const char*>* place_;  // null on other threads than the watched one
  const char* before_ = nullptr;
};

}  // namespace ringweave::detail::inline base
