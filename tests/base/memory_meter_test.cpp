// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "ringweave/views.hpp"

namespace ringweave::detail::test {
namespace {

TEST(MemoryMeter, RemembersTheMostSinceItsReset) {
  MemoryMeter::reset_high_water();
  const std::int64_t start = MemoryMeter::current_bytes();
  EXPECT_EQ(MemoryMeter::high_water_bytes(), start);
  {
    const HostBuffer<char> a(1000);
    const HostBuffer<char> b(500);
  }
  const HostBuffer<char> c(100);
  EXPECT_EQ(MemoryMeter::current_bytes() - start, 100);
  EXPECT_EQ(MemoryMeter::high_water_bytes() - start, 1500);
  MemoryMeter::reset_high_water();
  EXPECT_EQ(MemoryMeter::high_water_bytes() - start, 100);
}

TEST(MemoryMeter, CountsFromManyThreads) {
  const std::int64_t start = MemoryMeter::current_bytes();
  MemoryMeter::reset_high_water();
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 1000; ++i) {
    MemoryMeter::add(7);
    MemoryMeter::remove(7);
  }
  EXPECT_EQ(MemoryMeter::current_bytes(), start);
  EXPECT_GE(MemoryMeter::high_water_bytes() - start, 7);
  EXPECT_LE(MemoryMeter::high_water_bytes() - start, 4 * 7);
}

TEST(ResidentMemory, GrowsWithPagesThatAreTouched) {
  if (!std::ifstream("/proc/self/status")) GTEST_SKIP() << "this system has no /proc/self/status";
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  const std::int64_t before = resident_bytes();
  HostBuffer<char> buffer(bytes);
  std::fill(buffer.begin(), buffer.end(), 'x');
  EXPECT_GE(resident_bytes() - before, bytes / 2);
  EXPECT_GE(peak_resident_bytes(), resident_bytes() - before);
  EXPECT_GT(available_bytes(), 0);
}

}  // namespace
}  // namespace ringweave::detail::test
