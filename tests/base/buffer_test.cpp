// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "base/memory_meter.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::test {
namespace {

TEST(HostBuffer, IsAlignedForSimd) {
  for (const std::int64_t size : {1, 3, 17, 1000}) {
    const HostBuffer<double> buffer(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_EQ(buffer.size(), size);
  }
}

TEST(HostBuffer, OfNothingHoldsNothing) {
  const std::int64_t before = MemoryMeter::current_bytes();
  const HostBuffer<double> buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0);
  EXPECT_EQ(buffer.begin(), buffer.end());
  EXPECT_EQ(MemoryMeter::current_bytes(), before);
}

TEST(HostBuffer, HandsItsMemoryOnWhenMoved) {
  HostBuffer<int> a(4);
  for (int i = 0; i < 4; ++i) a[i] = i;
  const int* const memory = a.data();
  HostBuffer<int> b(std::move(a));
  EXPECT_EQ(b.data(), memory);
  EXPECT_EQ(
      a.data(),
      nullptr);  // NOLINT(bugprone-use-after-move): the moved-from state is part of the contract
  EXPECT_EQ(a.size(), 0);
  HostBuffer<int> c(100);
  c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_EQ(c[3], 3);
}

TEST(HostBuffer, IsMeteredFromBirthToDeath) {
  const std::int64_t before = MemoryMeter::current_bytes();
  {
    HostBuffer<double> buffer(1000);
    EXPECT_EQ(MemoryMeter::current_bytes() - before, 8000);
    buffer.allocate(10);
    EXPECT_EQ(MemoryMeter::current_bytes() - before, 80);
    HostBuffer<double> other(std::move(buffer));
    EXPECT_EQ(MemoryMeter::current_bytes() - before, 80);
    HostBuffer<double> third(5);
    third = std::move(other);
    EXPECT_EQ(MemoryMeter::current_bytes() - before, 80);
    third.release();
    third.release();
    EXPECT_EQ(MemoryMeter::current_bytes(), before);
    third.allocate(1);
  }
  EXPECT_EQ(MemoryMeter::current_bytes(), before);
}

TEST(HostBuffer, SaysSoWhenMemoryRunsOut) {
  const std::int64_t before = MemoryMeter::current_bytes();
  EXPECT_THROW(HostBuffer<double>(std::int64_t{1} << 57), ResourceError);
  EXPECT_THROW(HostBuffer<double>(std::numeric_limits<std::int64_t>::max() / 4), UsageError);
  EXPECT_EQ(MemoryMeter::current_bytes(), before);
}

TEST(ComponentBuffer, HoldsItsComponentsOneAfterTheOther) {
  MapBuffer<float> map(3, 5);
  EXPECT_EQ(map.bytes(), 60);
  for (std::int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(map.view().component(c).data(), map.view().data() + 5 * c);
    EXPECT_EQ(map.view().component(c).size(), 5);
  }
  const auto last_two = map.view().components(1, 2);
  EXPECT_EQ(last_two.n_components(), 2);
  EXPECT_EQ(last_two.data(), map.view().component(1).data());
  EXPECT_EQ(AlmBuffer<double>(2, 7).bytes(), 2 * 7 * 16);
}

TEST(ComponentView, KeepsItsStrideWhenItBecomesReadOnly) {
  double values[12] = {};
  const MapView<double> map(values, 3, 2, 4);
  const MapView<const double> read_only = map;
  EXPECT_EQ(read_only.component(2).data(), values + 8);
  EXPECT_EQ(read_only.size(), 2);
  EXPECT_EQ(read_only.stride(), 4);
}

}  // namespace
}  // namespace ringweave::detail::test
