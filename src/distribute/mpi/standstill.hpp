// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/activity.hpp"

namespace ringweave::detail::inline distribute {

/// Counters of a rank. Its watchdog raises `beats` as long as the process runs, its work `steps`.
struct RankCounters {
  std::uint64_t beats = 0;
  std::uint64_t steps = 0;
};

/// Times how long no rank of a group has made a step, and which of them do not run, from their
/// counters as one rank sees them again and again. Not collective.
class Standstill {
 public:
  /// A rank does not run that did not beat for `seconds_without_beat`.
  explicit Standstill(double seconds_without_beat) : seconds_without_beat_(seconds_without_beat) {}

  /// Takes the counters of all ranks, always in the same order, `elapsed` seconds after the last.
  void look(std::span<const RankCounters> counters, double elapsed);

  /// Returns the seconds since a rank made a step.
  double seconds() const { return seconds_; }
  /// Tells whether the rank at this place runs.
  bool runs(std::size_t place) const { return seconds_silent_[place] < seconds_without_beat_; }
  /// Returns how many ranks before this place run.
  std::int64_t n_running_before(std::size_t place) const;

 private:
  double seconds_without_beat_;
  double seconds_ = 0;
  std::vector<RankCounters> last_{};
  std::vector<double> seconds_silent_{};
};

/// A rank during a standstill.
struct StandingRank {
  int rank = 0;
  bool runs = true;  ///< false: stopped, or dead
  Activity::Names names{};
};

/// Returns what these ranks do, those first that may be the reason: "rank 1 does not run any more,
/// last seen in stage read; ranks 0, 2-5 wait in MPI_Bcast". `are_all`: the job has no others.
std::string words_of_standstill(std::span<const StandingRank> ranks, bool are_all);

}  // namespace ringweave::detail::inline distribute
