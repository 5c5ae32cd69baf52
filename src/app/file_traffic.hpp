// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/stage_timer.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// What reads and writes the files of a run, and how much of that there was.
struct FileTraffic {
  Communicator comm;  ///< what goes over it, only they send
  StageTimes times{};
  std::int64_t bytes_read = 0;  ///< as stored in the files, by all ranks
  std::int64_t bytes_written = 0;
};

}  // namespace ringweave
