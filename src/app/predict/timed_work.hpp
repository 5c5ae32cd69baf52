// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/stage_timer.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Returns the seconds of the slowest rank from a common start. Collective.
template <class Work>
double timed(const Communicator& comm, const Work& work) {
  StageTimes times;
  comm.barrier();
  {
    const StageTimer timer(&times, "work");
    work();
  }
  return comm.max(times.seconds("work"));
}

}  // namespace ringweave
