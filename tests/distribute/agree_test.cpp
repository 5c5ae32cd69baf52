// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/agree.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <new>

#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

struct Verdict {
  ErrorKind kind = ErrorKind::none;
  std::string message;
};

template <class Work>
Verdict verdict_of(const Communicator& comm, Work&& work) {
  try {
    agree(comm, work);
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

/// Adds the originating rank to the message, where there is more than one rank.
std::string from_rank(const Communicator& comm, int rank, const std::string& message) {
  return comm.size() == 1 ? message : "rank " + std::to_string(rank) + ": " + message;
}

TEST_P(OnEveryRankCount, AgreeReturnsWhenAllSucceed) {
  EXPECT_EQ(verdict_of(comm(), [] {}).kind, ErrorKind::none);
  EXPECT_EQ(agreed(comm(), [&] { return comm().rank() + 1; }), comm().rank() + 1);
}

TEST_P(OnEveryRankCount, AnErrorOnOneRankIsThrownOnAll) {
  for (const int culprit : {0, comm().size() - 1}) {
    const Verdict verdict = verdict_of(comm(), [&] {
      if (comm().rank() == culprit) throw DataError("map.fits", "is cut short");
    });
    EXPECT_EQ(verdict.kind, ErrorKind::data);
    EXPECT_EQ(verdict.message, from_rank(comm(), culprit, "map.fits: is cut short"));
  }
}

TEST_P(OnEveryRankCount, TheSameErrorOnAllRanksIsSaidOnceWithoutARank) {
  const Verdict verdict = verdict_of(comm(), [] { throw UsageError("no such option"); });
  EXPECT_EQ(verdict.kind, ErrorKind::usage);
  EXPECT_EQ(verdict.message, "no such option");
}

TEST_P(OnEveryRankCount, TheSeverestErrorWinsAndAmongEqualsTheLowestRank) {
  const int last = comm().size() - 1;
  const Verdict verdict = verdict_of(comm(), [&] {
    if (comm().rank() == last) throw ResourceError("disk full");
    throw DataError("", "bad value on " + std::to_string(comm().rank()));
  });
  EXPECT_EQ(verdict.kind, ErrorKind::resource);
  EXPECT_EQ(verdict.message, from_rank(comm(), last, "disk full"));

  const Verdict tie = verdict_of(
      comm(), [&] { throw DataError("", "bad value on " + std::to_string(comm().rank())); });
  EXPECT_EQ(tie.message, from_rank(comm(), 0, "bad value on 0"));
}

TEST_P(OnEveryRankCount, ForeignExceptionsBecomeOurErrors) {
  const int last = comm().size() - 1;
  EXPECT_EQ(verdict_of(comm(),
                       [&] {
                         if (comm().rank() == last) throw std::bad_alloc();
                       })
                .kind,
            ErrorKind::resource);
  EXPECT_EQ(verdict_of(comm(),
                       [&] {
                         if (comm().rank() == last) throw 7;
                       })
                .kind,
            ErrorKind::internal);
}

TEST_P(OnEveryRankCount, RanksThatDisagreeOnAValueAllThrow) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_NO_THROW(agree_same(comm(), "lmax", least));
  EXPECT_NO_THROW(agree_same(comm(), "lmax", 4096));
  if (comm().size() == 1) return;
  const std::int64_t mine = comm().rank() == comm().size() - 1 ? least : 4096;
  EXPECT_THROW(agree_same(comm(), "lmax", mine), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
