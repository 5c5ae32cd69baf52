// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "bench/median.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail {

/// Returns the median seconds of the slowest rank, after an uncounted call that touches memory and
/// opens connections. Collective.
inline double slowest_rank_seconds(const Communicator& comm, int repeats,
                                   const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double slowest = comm.max(elapsed.count());
    if (i > 0) seconds.push_back(slowest);
  }
  return median(seconds);
}

}  // namespace ringweave::detail
