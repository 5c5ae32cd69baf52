// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nonuniform/cuda/point_sum_sequence.hpp"
#include "nonuniform/cuda/point_sums_problem.hpp"
#include "support/emulated_block.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

void expect_as_the_host(const PointSumsProblem& problem) {
  const RowTaps& taps = problem.taps();
  const std::int64_t n_points = problem.n_points();
  const std::int64_t row_size = problem.row_size();
  gpu::EmulatedMachine machine;
  gpu::PointSumSequence<gpu::EmulatedMachine> sequence(
      gpu::PointSumPlan(taps.grid, taps.first_value, problem.points().points),
      problem.points().turns, taps.theta, taps.phi, taps.beyond_pole, machine);
  Values values(problem.values().size(), 7);
  sequence.interpolate({problem.rows().data(), row_size}, {values.data(), n_points});
  EXPECT_LE(relative_gap(values, problem.interpolated()), tolerance::rank_invariance);
  Values rows(problem.rows().size(), 7);
  Values spread = problem.values();
  sequence.spread({spread.data(), n_points}, {rows.data(), row_size});
  EXPECT_LE(relative_gap(rows, problem.spread()), tolerance::rank_invariance);
}

TEST(EmulatedPointSums, AreThoseOfTheHost) {
  for (const FineGrid& grid : {FineGrid{20, 36, 3, 5},
                               {24, 36, 8, 8},
                               {36, 60, 16, 16},
                               {28, 300, 11, 8},
                               {52, 450, 8, 13}}) {
    SCOPED_TRACE(grid.n_columns);
    expect_as_the_host({grid, 900, [](std::int64_t) { return true; }});
  }
}

TEST(EmulatedPointSums, AreThoseOfTheHostOnTheRowsOfARank) {
  const FineGrid grid{72, 200, 8, 7};
  for (const std::int64_t cut : {5, 20, 33}) {
    SCOPED_TRACE(cut);
    const auto is_polar = [&](std::int64_t row) {
      return std::min(row, grid.n_rows - 1 - row) < cut;
    };
    expect_as_the_host({grid, 500, is_polar});
    expect_as_the_host({grid, 500, [&](std::int64_t row) { return !is_polar(row); }});
  }
}

TEST(EmulatedPointSums, OfNoPointsAreZero) {
  const FineGrid grid{24, 36, 4, 4};
  const std::vector<std::int64_t> first_value(24, 0);
  const TapKernel taps(4, 1.5);
  const Values one = {1};
  gpu::EmulatedMachine machine;
  gpu::PointSumSequence<gpu::EmulatedMachine> sequence(
      gpu::PointSumPlan(grid, first_value, PointSpan{}), FrameTurns{}, taps.polynomials(),
      taps.polynomials(), one, machine);
  Values rows(36, 7);
  sequence.spread({nullptr, 0}, {rows.data(), 36});
  EXPECT_EQ(rows, Values(36, 0));
  sequence.interpolate({rows.data(), 36}, {nullptr, 0});
}

}  // namespace
}  // namespace ringweave::detail::test
