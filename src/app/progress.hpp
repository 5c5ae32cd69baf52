// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <string>

namespace ringweave::detail::inline app {

/// A line on stderr that shows the current stage and the time left; silent in batch jobs and on
/// ranks other than 0.
class Progress {
 public:
  enum class Mode { automatic, on, off };
  /// automatic: only if stderr is a terminal and no batch job runs (SLURM_JOB_ID, PBS_JOBID,
  /// LSB_JOBID unset).
  Progress(Mode mode, bool is_root);
  ~Progress();
  Progress(Progress&&) = default;
  Progress& operator=(Progress&&) = default;

  /// Begins a new stage; the line of the last one ends with its time.
  void stage(const std::string& name);
  /// Reports that step `done` of `total` of the current stage is finished; shows the percentage and
  /// the time left.
  void step(int done, int total, const std::string& note = "");
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void line(const std::string& text) const;

  bool active_;
  std::string stage_;
  Clock::time_point start_{};
};

}  // namespace ringweave::detail::inline app
