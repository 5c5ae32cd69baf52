// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <string>

namespace ringweave {

/// One line on stderr that says what is going on and how long it will take; silent in batch logs
/// and on ranks but 0.
class Progress {
 public:
  enum class Mode { automatic, on, off };
  /// automatic: only when stderr is a terminal and no batch job runs (SLURM_JOB_ID, PBS_JOBID,
  /// LSB_JOBID unset).
  Progress(Mode mode, bool is_root);
  ~Progress();
  Progress(Progress&&) = default;
  Progress& operator=(Progress&&) = default;

  /// A new stage; the line before is finished with its time.
  void stage(const std::string& name);
  /// Step `done` of `total` of the current stage is over; shows the share and the time left.
  void step(int done, int total, const std::string& note = "");
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void line(const std::string& text) const;

  bool active_;
  std::string stage_;
  Clock::time_point start_{};
};

}  // namespace ringweave
