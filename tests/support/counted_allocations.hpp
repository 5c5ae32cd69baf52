// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::test {

/// Returns how often this process asked operator new for memory, of any thread. For programs that
/// have counted_allocations.cpp among their sources; HostBuffer is counted by MemoryMeter.
std::int64_t n_allocations();

}  // namespace ringweave::detail::test
