// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdevice {

/// Counts what was done on each stream (and, as stream 0, by the host): a vector clock.
class Clock {
 public:
  std::uint32_t of(std::uint32_t stream) const {
    return stream < counts_.size() ? counts_[stream] : 0;
  }
  void set(std::uint32_t stream, std::uint32_t count) {
    if (counts_.size() <= stream) counts_.resize(stream + 1);
    counts_[stream] = count;
  }
  void merge(const Clock& other) {
    for (std::uint32_t stream = 0; stream < other.counts_.size(); ++stream) {
      if (other.of(stream) > of(stream)) set(stream, other.of(stream));
    }
  }

 private:
  std::vector<std::uint32_t> counts_;
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
  const std::string& name(std::uint32_t id) const { return names_[id]; }

 private:
  std::vector<Moment> moments_{Moment{}};
  std::vector<std::string> names_{"the host"};
};

}  // namespace softdevice
