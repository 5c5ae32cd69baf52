// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/memory_check.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

constexpr std::int64_t far_too_much = std::int64_t{1} << 55;

TEST(MemoryCheck, WhatFitsPasses) {
  EXPECT_NO_THROW(require_memory_for(Communicator::world(), 1000, "rows",
                                     [](int) { return std::int64_t{1000}; }));
}

TEST(MemoryCheck, ShortageIsTheSameOnAllRanks) {
  const Communicator comm = Communicator::world();
  EXPECT_LE(memory_shortage(comm, 1000).largest(), 0);
  const MemoryShortage shortage =
      memory_shortage(comm, comm.rank() == comm.size() - 1 ? far_too_much : 1);
  EXPECT_EQ(shortage.rank_needs, far_too_much);
  EXPECT_GE(shortage.node_needs, far_too_much);
  EXPECT_GT(shortage.of_node, 0);
}

TEST(MemoryCheck, WhatOneRankLacksIsRefusedOnAllWithRanksThatWouldDo) {
  const Communicator comm = Communicator::world();
  const int n_ranks = comm.size();
  const std::int64_t mine = comm.rank() == comm.size() - 1 ? far_too_much : 0;
  expect_error(ErrorKind::resource, "start " + std::to_string(n_ranks + 1) + " ranks", [&] {
    require_memory_for(comm, mine, "rows", [&](int n) { return n > n_ranks ? 0 : far_too_much; });
  });
  expect_error(ErrorKind::resource, "rows need up to 3.6e+07 GB on a rank",
               [&] { require_memory_for(comm, mine, "rows", [](int) { return far_too_much; }); });
}

}  // namespace
}  // namespace ringweave::detail::test
