// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>

#include "base/activity.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline base {

/// Adds the time from its construction to its destruction to one stage, which is also that of the
/// process's Activity; a null table measures no time. `stage` is a literal.
class StageTimer {
 public:
  StageTimer(StageTimes* times, const char* stage)
      : mark_(ActivityMark::Of::stage, stage), times_(times), stage_(stage) {
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
  ActivityMark mark_;
  StageTimes* times_;
  const char* stage_;
  Clock::time_point start_{};
};

}  // namespace ringweave::detail::inline base
