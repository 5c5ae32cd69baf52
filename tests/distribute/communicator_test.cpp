// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/communicator.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/checked_cast.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/mpi.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {

INSTANTIATE_TEST_SUITE_P(Ranks, OnEveryRankCount, every_rank_count(), name_of_rank_groups);

namespace {

TEST_P(OnEveryRankCount, ReductionsSeeEveryRank) {
  const std::int64_t n = comm().size();
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(comm().sum(big + comm().rank()), n * big + n * (n - 1) / 2);
  EXPECT_EQ(comm().max(big + comm().rank()), big + n - 1);
  EXPECT_EQ(comm().min(big + comm().rank()), big);
  EXPECT_EQ(comm().sum(0.5), 0.5 * static_cast<double>(n));
  EXPECT_EQ(comm().max(1.0 * comm().rank()), static_cast<double>(n - 1));
  EXPECT_EQ(comm().min(1.0 * comm().rank()), 0.0);
}

TEST_P(OnEveryRankCount, ArraysAreSummedInPlace) {
  std::array<double, 3> everywhere{1, 2, static_cast<double>(comm().rank())};
  std::array<double, 3> on_root = everywhere;
  comm().sum(everywhere.data(), 3);
  comm().sum_to_root(on_root.data(), 3);
  const double n = comm().size();
  const std::array<double, 3> expected{n, 2 * n, n * (n - 1) / 2};
  EXPECT_EQ(everywhere, expected);
  if (comm().is_root()) {
    EXPECT_EQ(on_root, expected);
  }
}

TEST_P(OnEveryRankCount, TextsTravel) {
  const std::string mine(to_size(3 * comm().rank()), static_cast<char>('a' + comm().rank()));
  const int last = comm().size() - 1;
  EXPECT_EQ(comm().broadcast(mine, last),
            std::string(to_size(3 * last), static_cast<char>('a' + last)));
  // Up to 504 letters go with their number, the others after it.
  for (const std::int64_t length : {0, 1, 503, 504, 505, 3000}) {
    std::string text(to_size(length), 'x');
    if (length > 0) text.back() = 'y';
    EXPECT_EQ(comm().broadcast(comm().is_root() ? text : "other", 0), text);
  }
  const std::vector<std::string> all = comm().gather(mine);
  ASSERT_EQ(ssize64(all), comm().is_root() ? comm().size() : 0);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    EXPECT_EQ(all[rank], std::string(3 * rank, static_cast<char>('a' + rank)));
  }
}

TEST_P(OnEveryRankCount, AllGatherKeepsTheOrderOfRanks) {
  const std::vector<std::int64_t> values = comm().all_gather(10 * comm().rank());
  ASSERT_EQ(ssize64(values), comm().size());
  for (int rank = 0; rank < comm().size(); ++rank) EXPECT_EQ(values[to_size(rank)], 10 * rank);
}

TEST_P(OnEveryRankCount, TakesACommunicatorOfTheCaller) {
  const MPI_Comm mine = mpi_handle(comm());
  const Communicator taken = Communicator::duplicate_of(mine);
  EXPECT_EQ(taken.rank(), comm().rank());
  EXPECT_EQ(taken.size(), comm().size());
  EXPECT_EQ(taken.sum(std::int64_t{1}), comm().size());
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(mine, mpi_handle(taken), &relation);
  EXPECT_EQ(relation, MPI_CONGRUENT);
  EXPECT_THROW((void)Communicator::duplicate_of(MPI_Comm{MPI_COMM_NULL}), UsageError);
}

TEST_P(OnEveryRankCount, SplitsByColorAndByNode) {
  const Communicator half = comm().split(comm().rank() % 2, comm().rank());
  EXPECT_EQ(half.size(), (comm().size() + 1 - comm().rank() % 2) / 2);
  EXPECT_EQ(half.rank(), comm().rank() / 2);
  const Communicator node = comm().node_local();
  EXPECT_GE(node.size(), 1);
  EXPECT_LE(node.size(), comm().size());
}

TEST_P(OnEveryRankCount, MpiErrorsAreThrownAsPeerErrors) {
  try {
    check_mpi(MPI_Bcast(nullptr, -1, MPI_BYTE, 0, mpi_handle(comm())), "MPI_Bcast");
    FAIL() << "a negative count must be refused";
  } catch (const PeerError& error) {
    EXPECT_NE(std::string(error.what()).find("MPI_Bcast"), std::string::npos);
  }
}

TEST(Communicator, SelfIsOneRankThatNeedsNoMpi) {
  const Communicator self = Communicator::self();
  EXPECT_EQ(self.rank(), 0);
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.sum(std::int64_t{7}), 7);
  EXPECT_EQ(self.broadcast(std::string("text"), 0), "text");
  EXPECT_EQ(self.gather("text"), std::vector<std::string>{"text"});
  self.barrier();
}

TEST(Communicator, MpiNamesItsVersion) { EXPECT_FALSE(mpi_library_version().empty()); }

}  // namespace
}  // namespace ringweave::detail::test
