// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "gyro/row_bands.hpp"
#include "stencil_problem.hpp"

namespace ringweave::detail::test {
namespace {

using Messages = std::vector<HaloPlan::Message>;

/// The messages between two ranks, in order.
std::map<std::pair<int, int>, Messages> by_pair(const std::vector<HaloPlan>& plans,
                                                bool of_senders) {
  std::map<std::pair<int, int>, Messages> result;
  for (const HaloPlan& plan : plans) {
    for (const HaloPlan::Message& message : of_senders ? plan.sends : plan.receives) {
      const auto pair =
          of_senders ? std::pair(plan.rank, message.peer) : std::pair(message.peer, plan.rank);
      result[pair].push_back(message);
    }
  }
  return result;
}

void expect_matching(const std::vector<HaloPlan>& plans) {
  const auto sent = by_pair(plans, true);
  const auto received = by_pair(plans, false);
  ASSERT_EQ(sent.size(), received.size());
  std::int64_t wrong = 0;
  for (const auto& [pair, messages] : sent) {
    const auto found = received.find(pair);
    ASSERT_NE(found, received.end()) << pair.first << " to " << pair.second;
    ASSERT_EQ(messages.size(), found->second.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      wrong += messages[i].rings == found->second[i].rings ? 0 : 1;
      wrong += messages[i].count == found->second[i].count ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0);
}

/// Every row that is held is own or fetched, and no other is fetched.
void expect_held_rows(const HaloPlan& plan, const HeldRows& rows) {
  std::vector<char> is_held(to_size(rows.n), 0);
  for (std::int64_t h = 0; h < rows.size(); ++h) is_held[to_size(rows.row(h))] = 1;
  for (std::int64_t y = 0; y < rows.n; ++y) {
    const bool is_own = y >= rows.own.begin && y < rows.own.end;
    ASSERT_EQ(plan.contains(RingId{y}), is_held[to_size(y)] == 1 && !is_own) << "row " << y;
  }
}

TEST(RowHalo, PlansOfAllPartsMatch) {
  for (const PlaneBoundary boundary : boundaries) {
    for (const std::int64_t n : {2, 7, 20}) {
      for (const std::int64_t n_parts : {1, 2, 3, 5, 8, 30}) {
        for (const std::int64_t halo : {0, 1, 2, 5, 19, 50}) {
          SCOPED_TRACE(testing::Message() << n << " rows, " << n_parts << " parts, halo " << halo
                                          << ", boundary " << static_cast<int>(boundary));
          const std::vector<std::int64_t> cuts = equal_partition(n, n_parts);
          std::vector<HaloPlan> plans;
          for (int part = 0; part < n_parts; ++part) {
            plans.push_back(plan_row_halo(boundary, cuts, part, halo, 3));
            const RowRange own{cuts[to_size(part)], cuts[to_size(part) + 1]};
            expect_held_rows(plans.back(), held_rows(boundary, n, own, halo));
          }
          expect_matching(plans);
        }
      }
    }
  }
}

TEST(RowHalo, IsPlannedForManyParts) {
  constexpr int n_parts = 16384;
  for (const PlaneBoundary boundary : boundaries) {
    const std::vector<std::int64_t> cuts = equal_partition(50000, n_parts);
    std::vector<HaloPlan> plans;
    for (int part = 0; part < n_parts; ++part)
      plans.push_back(plan_row_halo(boundary, cuts, part, 10, 1000));
    expect_matching(plans);
  }
}

TEST(HeldRows, AreThoseOfTheirPositions) {
  for (const PlaneBoundary boundary : boundaries) {
    const HeldRows rows = held_rows(boundary, 12, {1, 4}, 3);
    EXPECT_FALSE(rows.is_whole);
    for (std::int64_t position = -2; position < 7; ++position) {
      const std::int64_t held = rows.held_at(position);
      const std::int64_t node = node_at(boundary, 12, position);
      if (node < 0) {
        EXPECT_EQ(held, -1);
      } else {
        EXPECT_EQ(rows.row(held), node);
      }
    }
  }
  EXPECT_TRUE(held_rows(PlaneBoundary::periodic, 12, {1, 5}, 4).is_whole);
  EXPECT_TRUE(held_rows(PlaneBoundary::mirror, 12, {0, 12}, 0).is_whole);
}

}  // namespace
}  // namespace ringweave::detail::test
