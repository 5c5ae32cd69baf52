// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Returns the threads that a value of OMP_NUM_THREADS asks for: the product of its list, which
/// may have one number for each level of parallel regions, at most 2^31 - 1; nothing where it is
/// no such list.
std::optional<std::int64_t> threads_of_list(const std::string& text);

/// Returns the bytes of a size as in OMP_STACKSIZE, "512" (KiB), "2M", "1 G"; nothing where it is
/// none. At most 2^63 - 1.
std::optional<std::int64_t> bytes_of_stack_size(const std::string& text);

/// Sets the number of OpenMP threads: --threads (`asked`, 0 without), else OMP_NUM_THREADS, else
/// this rank's share of the node. Without either, every rank of an unbound job would start as many
/// threads as the node has cores. The OpenMP library ends the process where it cannot have its
/// threads, so this starts as many for a moment, with stacks as large. Collective.
/// Error  UsageError (OMP_NUM_THREADS is no number of threads, more threads than there is any use
///        for), ResourceError (stacks that are too small, threads that the system does not start).
void set_threads(const Communicator& comm, int asked);

}  // namespace ringweave::detail::inline app
