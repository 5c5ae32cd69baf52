// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::test {

/// Sizes of the groups that run side by side in one round of a launch.
using RankGroups = std::vector<int>;

/// Returns rounds that together give every rank count from 1 to 8 that fits the launch: of 8 ranks
/// {8}, {7, 1}, {6, 2}, {5, 3}, {4, 4}. Ranks left over in a round form a group, so none idles.
inline std::vector<RankGroups> rank_group_rounds(int launched) {
  std::vector<RankGroups> rounds;
  const auto room = [&](const RankGroups& round) {
    return launched - std::accumulate(round.begin(), round.end(), 0);
  };
  for (const int size : {8, 7, 6, 5, 4, 3, 2, 1}) {
    if (size > launched) continue;
    RankGroups* place = nullptr;
    for (RankGroups& round : rounds) {
      if (place == nullptr && room(round) >= size) place = &round;
    }
    if (place == nullptr) place = &rounds.emplace_back();
    place->push_back(size);
  }
  for (RankGroups& round : rounds) {
    if (room(round) > 0) round.push_back(room(round));
  }
  return rounds;
}

/// Returns this rank's group of a round. Collective over `world`.
inline Communicator join_group(const Communicator& world, const RankGroups& round) {
  int color = 0;
  int end = round[0];
  while (world.rank() >= end) end += round[to_size(++color)];
  return world.split(color, world.rank());
}

/// Runs `body` on a group of every rank count; its assertions run on every member. Collective over
/// the launch.
inline void on_every_rank_count(const std::function<void(const Communicator&)>& body) {
  const Communicator world = Communicator::world();
  for (const RankGroups& round : rank_group_rounds(world.size())) {
    const Communicator group = join_group(world, round);
    SCOPED_TRACE("rank " + std::to_string(group.rank()) + " of " + std::to_string(group.size()));
    try {
      body(group);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "exception: " << error.what();
    }
  }
}

/// The same as a fixture: TEST_P(OnEveryRankCount, ...) uses comm(). Instantiate it once in the
/// test program with
///   INSTANTIATE_TEST_SUITE_P(Ranks, OnEveryRankCount, every_rank_count(), name_of_rank_groups);
class OnEveryRankCount : public testing::TestWithParam<RankGroups> {
 protected:
  void SetUp() override { comm_.emplace(join_group(Communicator::world(), GetParam())); }
  const Communicator& comm() const { return *comm_; }

 private:
  std::optional<Communicator> comm_;
};

/// Evaluated when GoogleTest starts, after MPI.
inline auto every_rank_count() {
  return testing::ValuesIn(rank_group_rounds(Communicator::world().size()));
}

inline std::string name_of_rank_groups(const testing::TestParamInfo<RankGroups>& info) {
  std::string name = "GroupsOf";
  for (const int size : info.param) name.append("_").append(std::to_string(size));
  return name;
}

}  // namespace ringweave::detail::test
