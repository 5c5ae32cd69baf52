// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <string>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Ticks of the clock that some processors have spent since the system started.
struct ProcessorTicks {
  double busy = 0;  ///< at work, also for other virtual machines
  double all = 0;   ///< those and idle ones
  int n_processors = 0;
};

/// Sums the lines of these processors, numbered from 0, in the text of /proc/stat.
ProcessorTicks processor_ticks(const std::string& stat, const std::set<int>& processors);

/// Load of a node between two times.
struct NodeLoad {
  double others = 0;  ///< processors that other programs kept busy, the mean
  int n_processors = 0;

  /// Tells whether they disturb measurements.
  bool is_busy() const;
  std::string text() const;  ///< "1.3 of 2 processors"
};

/// Returns the load between two times in which this job spent some ticks itself.
NodeLoad load_between(const ProcessorTicks& before, const ProcessorTicks& after, double own_ticks);

/// Measures the load of the processors that the job may use, from its construction on. All members
/// are collective.
class LoadMeter {
 public:
  explicit LoadMeter(const Communicator& comm);
  /// Returns that of the node with most; no load where the system does not tell.
  NodeLoad load() const;

 private:
  ProcessorTicks ticks_now() const;
  double own_ticks_now() const;

  Communicator comm_;
  Communicator node_;
  std::set<int> processors_;  ///< of the job on this node, on its first rank
  ProcessorTicks begin_;
  double own_begin_ = 0;
};

}  // namespace ringweave::detail::inline app
