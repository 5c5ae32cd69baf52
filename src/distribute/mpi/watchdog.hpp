// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "distribute/mpi/node_states.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Ends the job with exit code 5 when no rank of this node has made progress for some time: one of
/// them, or of another node, has stopped, has died or waits for a file system for ever. Progress is
/// a step of the Activity of a process: a stage that begins or ends, a call of MPI, a part of a
/// long loop. A thread, which sleeps but for a moment twice a second, looks after it and names the
/// ranks that the others wait for. For the main thread of programs.
class Watchdog {
 public:
  /// Watches the thread that calls this. Collective. Error  ResourceError on all ranks when one
  /// cannot start the thread.
  ///
  /// seconds  without progress: longer than any loop without a step takes
  Watchdog(const Communicator& comm, double seconds);
  /// Ends the watch. Called by the same thread, not collective.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  void end_watch();
  [[noreturn]] void end_job(const Standstill& standstill) const;

  Communicator comm_;
  double seconds_;
  NodeStates states_;
  std::mutex mutex_;  // protects is_over_
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace ringweave::detail::inline distribute
