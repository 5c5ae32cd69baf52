// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace softdevice {

/// Counts what was done on each stream (and, as stream 0, by the host): a vector clock. Also, where
/// it differs, what would have been done if a wait of a stream for an event were left out (Waits).
class Clock {
 public:
  using Counts = std::vector<std::uint32_t>;  ///< [stream]
  static constexpr int no_wait = -1;

  static std::uint32_t of(const Counts& counts, std::uint32_t stream) {
    return stream < counts.size() ? counts[stream] : 0;
  }
  std::uint32_t of(std::uint32_t stream) const { return of(counts_, stream); }
  /// Returns the counts that hold without a wait, by its number.
  const std::map<int, Counts>& without() const { return without_; }

  void set(std::uint32_t stream, std::uint32_t count) {
    set(counts_, stream, count);
    for (auto& [wait, counts] : without_) set(counts, stream, count);
  }
  /// Merges what another knows, by that wait unless it is no_wait.
  void merge(const Clock& other, int by_wait = no_wait) {
    if (by_wait != no_wait) without_.try_emplace(by_wait, counts_);
    for (const auto& [wait, counts] : other.without_) without_.try_emplace(wait, counts_);
    for (auto& [wait, counts] : without_) {
      const auto there = other.without_.find(wait);
      if (wait != by_wait)
        merge(counts, there == other.without_.end() ? other.counts_ : there->second);
    }
    merge(counts_, other.counts_);
    std::erase_if(without_, [&](const auto& one) { return is_as_far(one.second); });
  }

 private:
  static void set(Counts& counts, std::uint32_t stream, std::uint32_t count) {
    if (counts.size() <= stream) counts.resize(stream + 1);
    counts[stream] = count;
  }
  static void merge(Counts& counts, const Counts& others) {
    for (std::uint32_t stream = 0; stream < others.size(); ++stream) {
      if (others[stream] > of(counts, stream)) set(counts, stream, others[stream]);
    }
  }
  bool is_as_far(const Counts& counts) const {
    for (std::uint32_t stream = 0; stream < counts_.size(); ++stream) {
      if (of(counts, stream) < counts_[stream]) return false;
    }
    return true;
  }

  Counts counts_;
  std::map<int, Counts> without_;
};

/// A place in the order of a stream.
struct Moment {
  std::uint32_t stream = 0;
  std::uint32_t count = 0;
};

/// Something that accesses memory: a launch, a copy, an FFT.
struct Operation {
  std::uint32_t id = 0;  ///< from 1
  std::string name{};
  Clock clock{};  ///< what has been done before it begins, and itself
};

/// All operations so far, by their ids.
class OperationLog {
 public:
  static OperationLog& get();
  /// Enters an operation and gives it its id.
  void enter(Operation& operation, Moment moment);
  bool is_before(std::uint32_t earlier, const Clock& clock) const {
    const Moment moment = moments_[earlier];
    return clock.of(moment.stream) >= moment.count;
  }
  Moment moment(std::uint32_t id) const { return moments_[id]; }
  const std::string& name(std::uint32_t id) const { return names_[id]; }

 private:
  std::vector<Moment> moments_{Moment{}};
  std::vector<std::string> names_{"the host"};
};

}  // namespace softdevice
