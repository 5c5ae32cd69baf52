// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <deque>

#include "base/device.hpp"
#include "base/stage_timer.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline transform {

/// Times consecutive stages of a stream by events between them, without waiting for the device
/// until the times are read.
template <class Event = DeviceEvent, class Stream = DeviceStream>
class StreamStages {
 public:
  /// Marks the end of `stage`, which began at the last mark; null: untimed work. `stage` must
  /// outlive the object.
  void mark(const char* stage, const Stream& stream) {
    if (n_marks_ == marks_.size()) marks_.emplace_back();
    marks_[n_marks_].stage = stage;
    marks_[n_marks_].event.record(stream);
    ++n_marks_;
  }
  /// Waits for the last mark, then adds the time of all stages since the last call.
  void add_to(StageTimes& times) {
    if (n_marks_ == 0) return;
    marks_[n_marks_ - 1].event.wait();
    for (std::size_t i = 1; i < n_marks_; ++i) {
      if (marks_[i].stage == nullptr) continue;
      times.add(marks_[i].stage, marks_[i].event.seconds_since(marks_[i - 1].event));
    }
    n_marks_ = 0;
  }

 private:
  struct Mark {
    Event event;
    const char* stage = nullptr;
  };

  std::deque<Mark> marks_;  // reused
  std::size_t n_marks_ = 0;
};

}  // namespace ringweave::detail::inline transform
