// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace ringweave {

/// Wall seconds and counts of the named stages of one rank ("legendre", "exchange", "ring_fft",
/// "read", ...). Not thread safe: stages begin and end on the rank's main thread.
class StageTimes {
 public:
  struct Entry {
    double seconds = 0;
    long calls = 0;
  };
  void add(const std::string& stage, double seconds) {
    Entry& entry = entries_[stage];
    entry.seconds += seconds;
    ++entry.calls;
  }
  double seconds(const std::string& stage) const {
    const auto found = entries_.find(stage);
    return found == entries_.end() ? 0.0 : found->second.seconds;
  }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::map<std::string, Entry> entries_;
};

/// Adds the time from its construction to its destruction to one stage; a null table costs nothing.
class StageTimer {
 public:
  StageTimer(StageTimes* times, const char* stage) : times_(times), stage_(stage) {
    if (times_ != nullptr) start_ = Clock::now();
  }
  ~StageTimer() {
    if (times_ != nullptr)
      times_->add(stage_, std::chrono::duration<double>(Clock::now() - start_).count());
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  StageTimes* times_;
  const char* stage_;
  Clock::time_point start_{};
};

}  // namespace ringweave
