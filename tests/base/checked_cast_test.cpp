// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/checked_cast.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace ringweave::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t int_max = std::numeric_limits<int>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

TEST(CheckedCast, KeepsWhatFits) {
  EXPECT_EQ(checked_cast<int>(int_max, "count"), std::numeric_limits<int>::max());
  EXPECT_EQ(checked_cast<int>(std::int64_t{std::numeric_limits<int>::min()}, "count"),
            std::numeric_limits<int>::min());
  EXPECT_EQ(checked_cast<std::uint8_t>(255, "byte"), 255);
  EXPECT_EQ(checked_cast<std::int64_t>(std::uint64_t{7}, "count"), 7);
}

TEST(CheckedCast, RefusesWhatDoesNotFitAndNamesIt) {
  EXPECT_THAT(
      [] { checked_cast<int>(int_max + 1, "the count of pixels"); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("the count of pixels"), HasSubstr("2147483648"))));
  EXPECT_THROW(checked_cast<unsigned>(-1, "count"), UsageError);
  EXPECT_THROW(checked_cast<std::int64_t>(std::numeric_limits<std::uint64_t>::max(), "count"),
               UsageError);
  EXPECT_THROW(checked_cast<std::uint8_t>(256, "byte"), UsageError);
}

TEST(CheckedProduct, IsExactUpTo64Bits) {
  constexpr std::int64_t nside = 32768;
  EXPECT_EQ(checked_product(12 * nside, nside, "pixels"), 12884901888);
  EXPECT_EQ(checked_product(int64_max, 1, "x"), int64_max);
  EXPECT_EQ(checked_product(0, int64_max, "x"), 0);
  EXPECT_EQ(checked_product(-3, 4, "x"), -12);
}

TEST(CheckedProduct, RefusesToOverflowAndNamesTheCount) {
  EXPECT_THAT([] { checked_product(int64_max / 2 + 1, 2, "bytes of a map"); },
              ThrowsMessage<UsageError>(HasSubstr("bytes of a map")));
}

}  // namespace
}  // namespace ringweave::detail::test
