// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/stage_timer.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Communicator and counters of a run's file input and output.
struct FileTraffic {
  Communicator comm;  ///< used by file input and output only
  StageTimes times{};
  std::int64_t bytes_read = 0;  ///< as stored in the files, over all ranks
  std::int64_t bytes_written = 0;
};

}  // namespace ringweave
