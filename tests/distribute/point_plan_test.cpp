// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/points/compact_indices.hpp"
#include "point_cases.hpp"
#include "support/expect_error.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

std::vector<std::int64_t> counts_of(const FineRows& rows, const PointList& points) {
  std::vector<std::int64_t> counts(to_size(rows.n_first_taps()), 0);
  for (const double theta : points.theta) ++counts[to_size(rows.first_tap_of(theta))];
  return counts;
}

/// The rows of a point by their definition, in the order of its taps.
std::vector<std::int64_t> rows_of(const FineRows& rows, double theta) {
  const std::int64_t n = rows.n_rows();
  const double u = static_cast<double>(n) * theta / std::numbers::pi - 0.5;
  std::vector<std::int64_t> result;
  for (int i = 0; i < rows.n_taps; ++i) {
    auto row = static_cast<std::int64_t>(std::ceil(u - rows.n_taps / 2.0)) + i;
    while (row < 0 || row >= n) row = row < 0 ? -1 - row : 2 * n - 1 - row;
    result.push_back(row);
  }
  return result;
}

/// The ranks of a point are those that own its rows, each once, in the order of the rows.
void expect_ranks_of_rows(const PointPlan& plan, const std::vector<std::int64_t>& rows,
                          std::span<const int> ranks) {
  std::vector<int> owners;
  for (const std::int64_t row : rows) {
    ASSERT_TRUE(plan.exists(row));
    const int owner = plan.owner(row);
    if (std::find(owners.begin(), owners.end(), owner) == owners.end()) owners.push_back(owner);
  }
  EXPECT_EQ(std::vector<int>(ranks.begin(), ranks.end()), owners);
}

void expect_loads(const PointPlan& plan, const PointList& points) {
  std::vector<PointLoad> loads(to_size(plan.n_ranks()));
  std::set<std::int64_t> touched;
  for (const double theta : points.theta) {
    std::set<int> ranks;
    for (const std::int64_t row : rows_of(plan.rows(), theta)) {
      touched.insert(row);
      ranks.insert(plan.owner(row));
      ++loads[to_size(plan.owner(row))].taps;
    }
    for (const int rank : ranks) ++loads[to_size(rank)].points;
  }
  for (std::int64_t row = 0; row < plan.rows().n_rows(); ++row) {
    EXPECT_EQ(plan.exists(row), touched.contains(row));
    if (!plan.exists(row)) continue;
    EXPECT_EQ(plan.rings().grid()->ring(plan.ring(row)).theta,
              plan.rows().grid->ring(RingId{row}).theta);
    ++loads[to_size(plan.owner(row))].rows;
  }
  PointLoad total;
  for (int rank = 0; rank < plan.n_ranks(); ++rank) {
    const PointLoad& load = plan.load(rank);
    const PointLoad& expected = loads[to_size(rank)];
    EXPECT_EQ(load.points, expected.points);
    EXPECT_EQ(load.rows, expected.rows);
    EXPECT_EQ(load.taps, expected.taps);
    EXPECT_LE(load.rows, plan.most().rows);
    EXPECT_LE(load.points, plan.most().points);
    total.taps += load.taps;
  }
  EXPECT_EQ(total.taps, points.size() * plan.rows().n_taps);
  EXPECT_EQ(plan.total().taps, total.taps);
  EXPECT_EQ(plan.total().rows, ssize64(touched));
}

TEST(PointPlan, GivesEveryRowOfEveryPointToOneRankOfThePoint) {
  for (const auto& [n_rows, n_taps] : {std::pair{3, 8}, {8, 1}, {41, 5}, {200, 16}}) {
    const FineRows rows = fine_rows(n_rows, 2 * n_rows, n_taps);
    for (const PointCase& point_case : point_cases()) {
      const std::vector<std::int64_t> counts = counts_of(rows, point_case.points);
      for (const int n_ranks : {1, 2, 5, 64, 4096}) {
        SCOPED_TRACE(point_case.name + " on " + std::to_string(n_rows) + " rows, " +
                     std::to_string(n_taps) + " taps, " + std::to_string(n_ranks) + " ranks");
        const PointPlan plan(rows, counts, RowCosts::typical(rows), n_ranks);
        EXPECT_EQ(plan.n_points(), point_case.points.size());
        for (const double theta : point_case.points.theta)
          expect_ranks_of_rows(plan, rows_of(rows, theta), plan.ranks(rows.first_tap_of(theta)));
        expect_loads(plan, point_case.points);
      }
    }
  }
}

TEST(PointPlan, GivesMirroredRowsToOneRank) {
  const FineRows rows = fine_rows(100, 200, 6);
  const PointPlan plan(rows, counts_of(rows, random_points(2000, 0, std::numbers::pi, 1)),
                       RowCosts::typical(rows), 7);
  for (std::int64_t row = 0; row < 100; ++row) EXPECT_EQ(plan.owner(row), plan.owner(99 - row));
}

TEST(PointPlan, BalancesTheWorkWhereverThePointsAre) {
  const FineRows rows = fine_rows(800, 1600, 8);
  constexpr double degree = std::numbers::pi / 180;
  for (const auto& [north, south] :
       {std::pair{0.0, 10.0}, {170.0, 180.0}, {30.0, 40.0}, {85.0, 95.0}, {0.0, 180.0}}) {
    const PointList points = random_points(200000, north * degree, south * degree, 1);
    const RowCosts costs = RowCosts::typical(rows);
    const PointPlan plan(rows, counts_of(rows, points), costs, 4);
    std::int64_t most = 0;
    for (int rank = 0; rank < 4; ++rank) {
      most = std::max(most,
                      plan.load(rank).taps * costs.of_point + plan.load(rank).rows * costs.of_row);
    }
    const PointLoad total = plan.total();
    const double mean =
        static_cast<double>(total.taps * costs.of_point + total.rows * costs.of_row) / 4;
    EXPECT_LT(static_cast<double>(most), tolerance::most_load * mean) << north << " to " << south;
  }
}

TEST(PointPlan, HasFewPointsOnTwoRanksWhereBandsAreWide) {
  const FineRows rows = fine_rows(800, 1600, 8);
  const std::int64_t n = 100000;
  const PointPlan plan(rows, counts_of(rows, random_points(n, 0, std::numbers::pi, 1)),
                       RowCosts::typical(rows), 4);
  // Three cuts in either hemisphere, with 7 of some 100 rows of a band at each.
  EXPECT_GT(plan.total().points, n);
  EXPECT_LT(plan.total().points, n + n / 10);
}

TEST(PointPlan, IsMadeForManyPointsAndRanks) {
  const FineRows rows = fine_rows(4000, 1 << 18, 16);
  const std::vector<std::int64_t> counts(to_size(rows.n_first_taps()), std::int64_t{1} << 38);
  const PointPlan plan(rows, counts, RowCosts::typical(rows), 4096);
  EXPECT_EQ(plan.total().rows, 4000);
  EXPECT_EQ(plan.total().taps, plan.n_points() * 16);
  EXPECT_GT(plan.load(4).points, std::int64_t{1} << 40);
}

TEST(PointPlan, RefusesRowsAndCountsThatAreNotPossible) {
  const FineRows rows = fine_rows(10, 20, 4);
  std::vector<std::int64_t> counts(11, 1);
  const auto plan_with = [&](const FineRows& its_rows) {
    return PointPlan(its_rows, counts, {}, 2);
  };
  EXPECT_NO_THROW(plan_with(rows));
  expect_error(ErrorKind::usage, "1 to 32 rows", [&] { plan_with({rows.grid, 0}); });
  expect_error(ErrorKind::usage, "1 to 32 rows", [&] { plan_with({rows.grid, 33}); });
  expect_error(ErrorKind::usage, "of grid none", [&] { plan_with({nullptr, 4}); });
  expect_error(ErrorKind::usage, "of grid healpix:4", [&] {
    plan_with({std::make_shared<const RingGrid>(RingGrid::healpix(4)), 4});
  });
  counts.back() = -1;
  expect_error(ErrorKind::usage, "-1 points", [&] { plan_with(rows); });
  counts.pop_back();
  expect_error(ErrorKind::usage, "10 counts of points; the plan has 11", [&] { plan_with(rows); });
}

TEST(CompactIndices, AreLongOnlyWhereTheyMustBe) {
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 32, std::int64_t{1} << 33}) {
    CompactIndices indices;
    indices.allocate(3, limit);
    indices.visit([&](auto& array) {
      using Index = std::remove_reference_t<decltype(array[0])>;
      for (std::int64_t i = 0; i < 3; ++i) array[i] = static_cast<Index>(limit - 1 - i);
      for (std::int64_t i = 0; i < 3 && limit > 0; ++i) EXPECT_EQ(array[i], limit - 1 - i);
    });
    EXPECT_EQ(indices.bytes(), limit <= std::int64_t{1} << 32 ? 12 : 24);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
