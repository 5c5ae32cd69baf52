// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace ringweave::detail {
namespace {

/// Parts that scale evenly over ranks.
SplitCosts even_costs(double harmonic, double rings, double sending) {
  SplitCosts costs;
  costs.harmonic = [harmonic](int, int n) { return Estimate{harmonic / n}; };
  costs.rings = [rings](double, int n) { return Estimate{rings / n}; };
  costs.sending = [sending](int n_rings, int n_harmonic) {
    return Estimate{sending / std::min(n_rings, n_harmonic)};
  };
  return costs;
}

/// Parts that hardly speed up with more ranks.
SplitCosts stubborn_costs() {
  SplitCosts costs;
  costs.harmonic = [](int, int n) { return Estimate{1 + 3.0 / n}; };
  costs.rings = [](double, int n) { return Estimate{2 + 5.0 / n}; };
  costs.sending = [](int, int) { return Estimate{0.1}; };
  return costs;
}

SplitCandidate placed(const SplitCosts& costs, int l_cut, int n_ranks,
                      std::optional<int> n_harmonic = {}) {
  return place_split(costs, {.theta_cut = 0.1, .l_cut = l_cut}, n_ranks, n_harmonic);
}

TEST(SplitPlacement, EveryRankHasAPartToDo) {
  for (const int n_harmonic : {0, 1, 3}) {
    const SplitPlacement placement{n_harmonic};
    int n_rings = 0;
    int n_harmonics = 0;
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_TRUE(placement.does_rings(rank, 4) || placement.does_harmonic(rank, 4));
      n_rings += placement.does_rings(rank, 4);
      n_harmonics += placement.does_harmonic(rank, 4);
    }
    EXPECT_EQ(n_rings, placement.ranks_of_rings(4));
    EXPECT_EQ(n_harmonics, placement.ranks_of_harmonic(4));
    EXPECT_EQ(n_rings + n_harmonics, n_harmonic == 0 ? 8 : 4);
  }
}

TEST(SplitPlacement, IsTheFastestOfAll) {
  for (const SplitCosts& costs : {even_costs(1, 1, 0), even_costs(1, 9, 0.1), even_costs(7, 1, 0.1),
                                  even_costs(1e-3, 1, 0), stubborn_costs()}) {
    for (const int n_ranks : {1, 2, 3, 5, 8, 16, 100}) {
      const SplitCandidate best = placed(costs, 10, n_ranks);
      double least = placed(costs, 10, n_ranks, 0).total.seconds;
      for (int n = 1; n < n_ranks; ++n)
        least = std::min(least, placed(costs, 10, n_ranks, n).total.seconds);
      EXPECT_LE(best.total.seconds, least * (1 + 1e-12)) << n_ranks;
    }
  }
}

TEST(SplitPlacement, AtOnceTheSlowerPartCounts) {
  SplitCosts costs = even_costs(3, 5, 100);
  EXPECT_DOUBLE_EQ(placed(costs, 10, 4, 0).total.seconds, 2);
  costs.at_once = true;
  for (const SplitCandidate& split : {placed(costs, 10, 4, 0), placed(costs, 10, 4)}) {
    EXPECT_DOUBLE_EQ(split.total.seconds, 1.25);
    EXPECT_EQ(split.n_harmonic, 0);
  }
  EXPECT_DOUBLE_EQ(placed(costs, -1, 4).total.seconds, 1.25);
}

TEST(SplitPlacement, TakesGroupsWhoseSizesAreAsTheWorkWhereRanksDoNotScale) {
  SplitCosts costs = even_costs(25, 75, 0);
  // All of them together are slower.
  costs.rings = [](double, int n) { return Estimate{75.0 / n + (n == 100 ? 1 : 0)}; };
  const SplitCandidate split = placed(costs, 10, 100);
  EXPECT_EQ(split.n_harmonic, 25);
  EXPECT_EQ(split.total.seconds, 1);
}

TEST(SplitPlacement, IsOneAfterTheOtherWhereSendingIsDearOrThereIsNothingToSend) {
  EXPECT_EQ(placed(even_costs(1, 1, 9), 10, 8).n_harmonic, 0);
  const SplitCandidate compact = placed(stubborn_costs(), -1, 8);
  EXPECT_EQ(compact.n_harmonic, 0);
  EXPECT_EQ(compact.harmonic.seconds, 0);
  EXPECT_EQ(placed(stubborn_costs(), -1, 8, 3).n_harmonic, 0);
}

}  // namespace
}  // namespace ringweave::detail
