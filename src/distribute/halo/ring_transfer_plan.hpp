// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/ring_distribution.hpp"

namespace ringweave::detail::inline distribute {

/// The messages that move the rings of a map to new owners, as plain data computed without MPI.
/// Offsets and counts are in pixels of one component.
struct RingTransferPlan {
  /// Consecutive rings that are contiguous in the memory of both ranks.
  struct Message {
    int peer = 0;
    RingRange rings;
    std::int64_t first = 0;  ///< pixel among this rank's own, before (sends) or after (receives)
    std::int64_t count = 0;
  };

  int rank = 0;
  int n_ranks = 1;
  std::int64_t size_before = 0;  ///< pixels this rank has before
  std::int64_t size_after = 0;   ///< pixels it has after
  // From north to south: messages of a pair of ranks in the same order on both sides. A rank may be
  // its own peer.
  std::vector<Message> sends;
  std::vector<Message> receives;
};

/// Plans one rank; the plans of all ranks match. Not collective.
/// Error  UsageError when the distributions differ in grid or number of ranks.
RingTransferPlan plan_ring_transfer(const RingDistribution& before, const RingDistribution& after,
                                    int rank);

}  // namespace ringweave::detail::inline distribute
