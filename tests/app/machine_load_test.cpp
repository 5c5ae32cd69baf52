// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/machine_load.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ringweave::detail {
namespace {

// user, nice, system, idle, waiting for files, interrupts (2), stolen, guests (2, of user)
const std::string at_first =
    "cpu  160 20 40 780 0 0 0 0 0 0\n"
    "cpu0 100 10 20 300 50 5 5 10 40 0\n"
    "cpu1 60 10 20 480 0 0 0 0 0 0\n"
    "cpu12 7 0 0 0 0 0 0 0 0 0\n"
    "intr 1234 5 6\n";

TEST(ProcessorTicks, AreThoseOfTheNamedProcessors) {
  const ProcessorTicks first = processor_ticks(at_first, {0});
  EXPECT_EQ(first.n_processors, 1);
  EXPECT_EQ(first.busy, 150);
  EXPECT_EQ(first.all, 500);
  const ProcessorTicks both = processor_ticks(at_first, {0, 1, 2});
  EXPECT_EQ(both.n_processors, 2);
  EXPECT_EQ(both.busy, 240);
  EXPECT_EQ(both.all, 1070);
  EXPECT_EQ(processor_ticks("", {0}).all, 0);
  EXPECT_EQ(processor_ticks("cpu", {0}).n_processors, 0);
}

TEST(NodeLoad, IsTheWorkOfOthersPerTime) {
  // 100 ticks of two processors, of which this job worked 60.
  const ProcessorTicks before{1000, 5000, 2};
  const ProcessorTicks after{1140, 5200, 2};
  const NodeLoad load = load_between(before, after, 60);
  EXPECT_DOUBLE_EQ(load.others, 0.8);
  EXPECT_EQ(load.n_processors, 2);
  EXPECT_TRUE(load.is_busy());
  EXPECT_EQ(load.text(), "0.8 of 2 processor(s)");
}

TEST(NodeLoad, IsNoneWhereTheJobIsAloneOrTheSystemDoesNotTell) {
  const ProcessorTicks before{1000, 5000, 2};
  EXPECT_EQ(load_between(before, {1100, 5200, 2}, 103).others, 0);  // by rounding
  EXPECT_FALSE(load_between(before, {1110, 5200, 2}, 100).is_busy());
  EXPECT_FALSE(load_between(before, before, 0).is_busy());
  EXPECT_FALSE(load_between({}, {}, 100).is_busy());
}

TEST(NodeLoad, IsMoreOnALargeNodeBeforeItDisturbs) {
  EXPECT_TRUE((NodeLoad{0.5, 2}).is_busy());
  EXPECT_FALSE((NodeLoad{0.5, 64}).is_busy());
  EXPECT_TRUE((NodeLoad{4, 64}).is_busy());
}

}  // namespace
}  // namespace ringweave::detail
