// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Checks that the memory of every node and process holds what its ranks are about to allocate.
/// Collective.
///
/// bytes        of this rank
/// what         needs them, "the points"
/// bytes_among  bytes of a rank among so many, falling with their number; the same on all ranks
/// Error        ResourceError on all ranks, with a number of ranks that would do
void require_memory_for(const Communicator& comm, std::int64_t bytes, const std::string& what,
                        const std::function<std::int64_t(int n_ranks)>& bytes_among);

}  // namespace ringweave::detail::inline distribute
