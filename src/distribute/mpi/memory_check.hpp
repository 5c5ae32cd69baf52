// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Memory that ranks are about to allocate, and how much of it their nodes and processes lack, in
/// bytes; the same on every rank.
struct MemoryShortage {
  std::int64_t node_needs = 0;  ///< of a node's ranks together, on the node that needs most
  std::int64_t of_node = 0;     ///< less the memory of the node, on the node that lacks most
  std::int64_t rank_needs = 0;  ///< on the rank that needs most
  std::int64_t of_rank = 0;     ///< less the limit of the process, on the rank that lacks most

  /// The largest shortage of any node or rank; 0 or less: the memory holds it.
  std::int64_t largest() const { return std::max(of_node, of_rank); }
};

/// Compares the bytes of all ranks with the memory of their nodes and processes. Collective.
///
/// bytes  of this rank
MemoryShortage memory_shortage(const Communicator& comm, std::int64_t bytes);

/// Checks that the memory of every node and process suffices for the next allocations of its ranks.
/// Collective.
///
/// bytes        of this rank
/// what         needs them, "the points"
/// bytes_among  bytes of a rank among so many, falling with their number; the same on all ranks
/// Error        ResourceError on all ranks, with a number of ranks that would do
void require_memory_for(const Communicator& comm, std::int64_t bytes, const std::string& what,
                        const std::function<std::int64_t(int n_ranks)>& bytes_among);

/// Throws a ResourceError on all ranks where one lacks these bytes, of which all but those of its
/// threads fall with the number of ranks. Collective.
/// what  needs them
void require_memory_of_ranks(const Communicator& comm, std::int64_t bytes, std::int64_t of_threads,
                             const std::string& what);

}  // namespace ringweave::detail::inline distribute
