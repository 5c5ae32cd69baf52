// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/first_error.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "ringweave/error.hpp"

namespace ringweave::detail::test {
namespace {

TEST(FirstError, CarriesAnExceptionOutOfAParallelRegion) {
  FirstError error;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 100; ++i) {
    error.guard([&] {
      if (i == 37) throw DataError("ring 37", "is broken");
    });
  }
  try {
    error.rethrow();
    FAIL() << "the error was lost";
  } catch (const DataError& kept) {
    EXPECT_STREQ(kept.what(), "ring 37: is broken");
  }
}

TEST(FirstError, KeepsOneOfManyAndForgetsItOnceThrown) {
  FirstError error;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 100; ++i) {
    error.guard([&] { throw UsageError(std::to_string(i)); });
  }
  EXPECT_THROW(error.rethrow(), UsageError);
  EXPECT_NO_THROW(error.rethrow());
}

TEST(FirstError, DoesNoMoreWorkAfterAnError) {
  FirstError error;
  int calls = 0;
  for (int i = 0; i < 10; ++i) {
    error.guard([&] {
      ++calls;
      if (i == 3) throw 7;
    });
  }
  EXPECT_EQ(calls, 4);
  EXPECT_THROW(error.rethrow(), int);
}

TEST(FirstError, StaysOutOfTheWayWhenAllGoesWell) {
  FirstError error;
  std::atomic<int> calls = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 100; ++i) error.guard([&] { ++calls; });
  EXPECT_NO_THROW(error.rethrow());
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace ringweave::detail::test
