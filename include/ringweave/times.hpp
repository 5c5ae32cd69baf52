// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

namespace ringweave {

/// Wall seconds and calls of the named stages of one rank ("legendre", "exchange", "ring_fft",
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
  /// 0 for a stage that never ran.
  double seconds(const std::string& stage) const {
    const auto found = entries_.find(stage);
    return found == entries_.end() ? 0.0 : found->second.seconds;
  }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::map<std::string, Entry> entries_;
};

}  // namespace ringweave
