// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/standstill.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringweave::detail::test {
namespace {

TEST(Standstill, LastsSinceTheLastStepOfAnyRank) {
  Standstill standstill(3);
  std::vector<RankCounters> ranks(2);
  standstill.look(ranks, 1);
  EXPECT_EQ(standstill.seconds(), 0);
  for (int i = 0; i < 4; ++i) standstill.look(ranks, 0.5);
  EXPECT_EQ(standstill.seconds(), 2);
  ++ranks[1].steps;
  standstill.look(ranks, 0.5);
  EXPECT_EQ(standstill.seconds(), 0);
  standstill.look(ranks, 0.5);
  EXPECT_EQ(standstill.seconds(), 0.5);
}

TEST(Standstill, ARankWithoutBeatsDoesNotRun) {
  Standstill standstill(3);
  std::vector<RankCounters> ranks(3);
  standstill.look(ranks, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(standstill.runs(1));
    for (const std::size_t place : {0u, 2u}) ++ranks[place].beats;
    standstill.look(ranks, 1);
  }
  EXPECT_TRUE(standstill.runs(0));
  EXPECT_FALSE(standstill.runs(1));
  EXPECT_EQ(standstill.n_running_before(0), 0);
  EXPECT_EQ(standstill.n_running_before(2), 1);
  ++ranks[1].beats;
  standstill.look(ranks, 1);
  EXPECT_TRUE(standstill.runs(1));
}

TEST(WordsOfStandstill, NameStoppedRanksFirstAndGroupTheOthers) {
  const Activity::Names summing{"smoothing", "legendre", ""};
  const Activity::Names waiting{"smoothing", "exchange", "MPI_Bcast"};
  const std::vector<StandingRank> ranks = {{0, true, waiting},
                                           {1, true, summing},
                                           {2, true, waiting},
                                           {3, true, waiting},
                                           {4, false, {}}};
  EXPECT_EQ(
      words_of_standstill(ranks, true),
      "rank 4 does not run any more, last seen between stages; rank 1 is in stage "
      "legendre, \"smoothing\"; ranks 0, 2-3 wait in MPI_Bcast, stage exchange, \"smoothing\"");
}

TEST(WordsOfStandstill, SayWhenAllRanksWait) {
  const std::vector<StandingRank> ranks = {{6, true, {"", "", "MPI_Bcast"}},
                                           {7, true, {"", "", "MPI_Bcast"}}};
  EXPECT_EQ(words_of_standstill(ranks, true),
            "ranks 6-7 wait in MPI_Bcast; all wait for one another");
  EXPECT_EQ(words_of_standstill(ranks, false),
            "ranks 6-7 wait in MPI_Bcast; no other ranks can be seen from here");
}

}  // namespace
}  // namespace ringweave::detail::test
