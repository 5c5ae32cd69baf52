// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/threads.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>

namespace ringweave::detail {
namespace {

TEST(Threads, AListAsksForTheProductOfItsLevels) {
  EXPECT_EQ(threads_of_list("4"), 4);
  EXPECT_EQ(threads_of_list("4,2"), 8);
  EXPECT_EQ(threads_of_list(" 4 , 2\t"), 8);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(threads_of_list("99999999999999999999"), most);
  EXPECT_EQ(threads_of_list("100000,100000,100000"), most);
  for (const char* text : {"", " ", "0", "-2", "many", "4,", ",4", "4 2", "4;2", "4.5", "4,x"})
    EXPECT_EQ(threads_of_list(text), std::nullopt) << text;
}

TEST(Threads, StackSizesHaveUnits) {
  constexpr std::int64_t kibibyte = 1024;
  EXPECT_EQ(bytes_of_stack_size("512"), 512 * kibibyte);
  EXPECT_EQ(bytes_of_stack_size("512k"), 512 * kibibyte);
  EXPECT_EQ(bytes_of_stack_size(" 2 M "), 2 * kibibyte * kibibyte);
  EXPECT_EQ(bytes_of_stack_size("4000B"), 4000);
  EXPECT_EQ(bytes_of_stack_size("1g"), kibibyte * kibibyte * kibibyte);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bytes_of_stack_size("99999999999G"), most);
  EXPECT_EQ(bytes_of_stack_size("99999999999999999999B"), most);
  for (const char* text : {"", "k", "-1", "0", "2T", "2MB", "2 M M"})
    EXPECT_EQ(bytes_of_stack_size(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ringweave::detail
