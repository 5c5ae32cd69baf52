// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
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

/// Predicted seconds, and one standard deviation of the prediction's error.
struct Estimate {
  double seconds = 0;
  double sigma = 0;

  /// One after the other; errors of different stages are independent.
  friend Estimate operator+(const Estimate& a, const Estimate& b) {
    return {a.seconds + b.seconds, std::hypot(a.sigma, b.sigma)};
  }
  /// Repeated: the relative error is the same every time.
  friend Estimate operator*(double times, const Estimate& one) {
    return {times * one.seconds, times * one.sigma};
  }
  /// Side by side.
  friend Estimate longer(const Estimate& a, const Estimate& b) {
    return b.seconds > a.seconds ? b : a;
  }
};

}  // namespace ringweave
