// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/node_states.hpp"

#include <gtest/gtest.h>

#include <string>

#include "distribute/mpi/watchdog.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

TEST_P(OnEveryRankCount, RanksOfANodeSeeOneAnother) {
  const NodeStates states(comm());
  ASSERT_TRUE(states.are_all());
  ASSERT_EQ(ssize64(states.all()), comm().size());
  Activity activity;
  for (int i = 0; i <= comm().rank(); ++i) activity.step();
  activity.name_work("work of rank " + std::to_string(comm().rank()) + std::string(200, '!'));
  const std::uint64_t steps = activity.steps();
  RankState& own = states.all()[states.own_place()];
  own.show(comm().rank(), activity);
  own.show(comm().rank(), activity);
  comm().barrier();
  for (const RankState& state : states.all()) {
    EXPECT_EQ(state.counters().beats, 2u);
    EXPECT_EQ(state.counters().steps, steps - static_cast<std::uint64_t>(comm().rank()) +
                                          static_cast<std::uint64_t>(state.rank()));
    const std::string work = state.names().work;
    EXPECT_TRUE(work.starts_with("work of rank " + std::to_string(state.rank()) + "!")) << work;
    EXPECT_EQ(work.size(), 95u);
  }
  comm().barrier();
}

TEST_P(OnEveryRankCount, AWatchdogLeavesAJobThatGoesOnAlone) {
  const Watchdog watchdog(comm(), 1800);
  EXPECT_EQ(comm().sum(std::int64_t{1}), comm().size());
}

}  // namespace
}  // namespace ringweave::detail::test
