// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "base/memory_meter.hpp"

namespace ringweave::detail::test {

/// Returns how often this process asked operator new for memory, of any thread. For programs that
/// have counted_allocations.cpp among their sources; HostBuffer is counted by MemoryMeter.
std::int64_t n_allocations();

/// Checks that a call allocates nothing from the second time on: the first names its stages.
template <class Call>
void expect_no_allocations(const Call& call) {
  call();
  const std::int64_t bytes = MemoryMeter::current_bytes();
  const std::int64_t allocations = n_allocations();
  MemoryMeter::reset_high_water();
  call();
  EXPECT_EQ(MemoryMeter::high_water_bytes(), bytes);
  EXPECT_EQ(n_allocations(), allocations);
}

}  // namespace ringweave::detail::test
