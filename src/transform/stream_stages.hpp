// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <deque>

#include "base/device.hpp"
#include "base/stage_timer.hpp"

namespace ringweave {

/// Seconds of stages that follow each other in a stream, by events between them: the device is not
/// waited for until they are asked for.
template <class Event = DeviceEvent, class Stream = DeviceStream>
class StreamStages {
 public:
  /// A stage begins here.
  void begin(const Stream& stream) {
    n_marks_ = 0;
    mark(nullptr, stream);
  }
  /// It ends here, and another one begins. `stage` outlives the object.
  void end(const char* stage, const Stream& stream) { mark(stage, stream); }
  /// Waits for the end of the last stage, then adds what all took since begin().
  void add_to(StageTimes& times) const {
    if (n_marks_ == 0) return;
    marks_[n_marks_ - 1].event.wait();
    for (std::size_t i = 1; i < n_marks_; ++i) {
      times.add(marks_[i].stage, marks_[i].event.seconds_since(marks_[i - 1].event));
    }
  }

 private:
  struct Mark {
    Event event;
    const char* stage = nullptr;
  };
  void mark(const char* stage, const Stream& stream) {
    if (n_marks_ == marks_.size()) marks_.emplace_back();
    marks_[n_marks_].stage = stage;
    marks_[n_marks_].event.record(stream);
    ++n_marks_;
  }

  std::deque<Mark> marks_;  // made once, used again
  std::size_t n_marks_ = 0;
};

}  // namespace ringweave
