// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/degree_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

TEST(DegreePlan, EveryDegreeIsInOneBlockFromTheHighestDown) {
  for (const int lmax : {0, 1, 5, 100, 4096}) {
    for (const std::int64_t coefficients : {1, 1000, 1000000, 100000000}) {
      for (const std::int64_t multiple : {1, 3, 64}) {
        int end = lmax + 1;
        for (const DegreeBlock& block : cut_degrees(lmax, coefficients, multiple)) {
          EXPECT_EQ(block.end, end);
          EXPECT_LT(block.begin, block.end);
          std::int64_t held = 0;
          for (int l = block.begin; l < block.end; ++l) held += l + 1;
          const std::int64_t count = block.end - block.begin;
          EXPECT_TRUE(held <= coefficients || count <= multiple);
          EXPECT_TRUE(block.begin == 0 || count % multiple == 0);
          end = block.begin;
        }
        EXPECT_EQ(end, 0);
      }
    }
  }
}

TEST(DegreePlan, EveryDegreeOfABlockIsDealtOnceAndWorkIsBalanced) {
  for (const int n_ranks : {1, 2, 3, 7, 64}) {
    const DegreeBlock block{1000, 1000 + 4 * n_ranks};
    std::vector<int> all;
    std::vector<std::int64_t> work;
    for (int rank = 0; rank < n_ranks; ++rank) {
      const std::vector<int> mine = dealt_degrees(block, rank, n_ranks);
      EXPECT_TRUE(std::is_sorted(mine.rbegin(), mine.rend()));
      all.insert(all.end(), mine.begin(), mine.end());
      work.push_back(0);
      for (const std::int64_t l : mine) work.back() += l * l;
    }
    std::sort(all.begin(), all.end());
    std::vector<int> expected(to_size(block.end - block.begin));
    std::iota(expected.begin(), expected.end(), block.begin);
    EXPECT_EQ(all, expected);
    const auto [least, most] = std::minmax_element(work.begin(), work.end());
    EXPECT_LE(static_cast<double>(*most), 1.01 * static_cast<double>(*least));
  }
}

/// Orders dealt to ranks in turn.
OrderOwners dealt_orders(int lmax, int n_ranks) {
  std::vector<int> orders;
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const std::size_t before = orders.size();
    for (int m = rank; m <= lmax; m += n_ranks) orders.push_back(m);
    counts.push_back(static_cast<std::int64_t>(orders.size() - before));
  }
  return OrderOwners(lmax, orders, counts);
}

TEST(DegreePlan, WhatARankSendsIsWhatItsPeerExpects) {
  constexpr std::int64_t n_components = 3;
  for (const int n_ranks : {1, 2, 5, 40}) {
    constexpr int lmax = 60;
    const OrderOwners owners = dealt_orders(lmax, n_ranks);
    for (const DegreeBlock& block : cut_degrees(lmax, 200, n_ranks)) {
      std::vector<DegreeMessages> of_rank;
      std::int64_t sent = 0;
      for (int rank = 0; rank < n_ranks; ++rank)
        sent += of_rank.emplace_back(owners, block, rank, n_components).by_order_size;
      for (int a = 0; a < n_ranks; ++a) {
        for (int b = 0; b < n_ranks; ++b) {
          EXPECT_EQ(of_rank[to_size(a)].by_order_counts[to_size(b)],
                    of_rank[to_size(b)].by_degree_counts[to_size(a)]);
        }
      }
      std::int64_t held = 0;
      for (int l = block.begin; l < block.end; ++l) held += l + 1;
      EXPECT_EQ(sent, held * n_components);
    }
  }
}

TEST(DegreePlan, IsSmallForManyRanksAndDegrees) {
  constexpr int lmax = 65535;
  constexpr int n_ranks = 16384;
  const OrderOwners owners = dealt_orders(lmax, n_ranks);
  const std::vector<DegreeBlock> blocks = cut_degrees(lmax, std::int64_t{1} << 28, n_ranks);
  EXPECT_EQ(blocks.size(), 4u);
  const DegreeMessages messages(owners, blocks.front(), 5, 3);
  EXPECT_EQ(messages.degrees.size(), 1u);
  EXPECT_EQ(messages.by_degree_size, 3 * (std::int64_t{messages.degrees[0]} + 1));
}

TEST(DegreePlan, RefusesOrdersOnTwoRanksAndOnNone) {
  expect_error(ErrorKind::usage, "m = 1 of rank 1", [] { OrderOwners(2, {0, 1, 1, 2}, {2, 2}); });
  expect_error(ErrorKind::usage, "m = 3", [] { OrderOwners(2, {0, 1, 2, 3}, {2, 2}); });
  expect_error(ErrorKind::usage, "no rank has the a_lm of order m = 1", [] {
    OrderOwners(2, {0, 2}, {1, 1});
  });
}

}  // namespace
}  // namespace ringweave::detail::test
