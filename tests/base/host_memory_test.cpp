// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/host_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/memory_meter.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::test {
namespace {

constexpr std::int64_t megabyte = std::int64_t{1} << 20;

using Bytes = HostBuffer<char>;

TEST(HostMemory, GoesBackToTheSystemUnlessItIsToBeReused) {
  Bytes(32 * megabyte).release();
  EXPECT_EQ(kept_host_bytes(), 0);
  const HostMemoryPool reuse;
  Bytes(32 * megabyte).release();
  EXPECT_EQ(kept_host_bytes(), 32 * megabyte);
  { const HostMemoryPool inner; }
  EXPECT_EQ(kept_host_bytes(), 32 * megabyte);
}

TEST(HostMemory, IsGivenBackWhenReuseEnds) {
  {
    const HostMemoryPool reuse;
    Bytes(32 * megabyte).release();
  }
  EXPECT_EQ(kept_host_bytes(), 0);
}

TEST(HostMemory, IsHandedOutAgainForItsSizeAndSomewhatLess) {
  const HostMemoryPool reuse;
  Bytes large(60 * megabyte);
  Bytes small(50 * megabyte);
  const char* const large_memory = large.data();
  const char* const small_memory = small.data();
  large.release();
  small.release();
  const std::int64_t touched = MemoryMeter::touched_bytes();
  const Bytes again(49 * megabyte);
  const Bytes and_again(49 * megabyte);
  EXPECT_EQ(again.data(), small_memory);
  EXPECT_EQ(and_again.data(), large_memory);
  EXPECT_EQ(MemoryMeter::touched_bytes(), touched);
  EXPECT_EQ(kept_host_bytes(), 0);
}

TEST(HostMemory, OfMuchLargerBlocksStaysWhereItIs) {
  const HostMemoryPool reuse;
  Bytes(60 * megabyte).release();
  const std::int64_t touched = MemoryMeter::touched_bytes();
  const Bytes small(20 * megabyte);
  EXPECT_EQ(MemoryMeter::touched_bytes() - touched, 20 * megabyte);
}

TEST(HostMemory, KeepsNoMoreThanWasInUseAtOnce) {
  const HostMemoryPool reuse;
  {
    const Bytes a(300 * megabyte);
    const Bytes b(100 * megabyte);
  }
  EXPECT_EQ(kept_host_bytes(), 400 * megabyte);
  const Bytes other(150 * megabyte);
  EXPECT_EQ(kept_host_bytes(), 100 * megabyte);
}

TEST(HostMemory, ThatIsKeptGoesBackBeforeAnythingIsRefused) {
  const HostMemoryPool reuse;
  Bytes(32 * megabyte).release();
  EXPECT_THROW(Bytes(std::int64_t{1} << 60), ResourceError);
  EXPECT_EQ(kept_host_bytes(), 0);
}

TEST(HostMemory, IsSharedByThreads) {
  const HostMemoryPool reuse;
  std::vector<char> good(8, 0);
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 8; ++i) {
    Bytes mine(16 * megabyte);
    std::fill(mine.begin(), mine.end(), static_cast<char>(i));
    good[static_cast<std::size_t>(i)] = static_cast<char>(
        std::all_of(mine.begin(), mine.end(), [i](char c) { return c == static_cast<char>(i); }));
  }
  EXPECT_TRUE(std::all_of(good.begin(), good.end(), [](char c) { return c != 0; }));
}

}  // namespace
}  // namespace ringweave::detail::test
