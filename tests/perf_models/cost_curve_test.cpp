// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/cost_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

TEST(CostCurve, IsAPowerLawBetweenMeasuredSizesAndConstantBeyond) {
  const CostCurve curve({{10, 4}, {1000, 1}}, 0.1);
  EXPECT_NEAR(curve.estimate(100, 1).seconds, 2, 1e-12);
  EXPECT_DOUBLE_EQ(curve.estimate(1, 1).seconds, 4);
  EXPECT_DOUBLE_EQ(curve.estimate(1e6, 1).seconds, 1);
}

TEST(CostCurve, MultipliesByTheUnitsOfWork) {
  const CostCurve curve({{10, 4}}, 0.25);
  EXPECT_DOUBLE_EQ(curve.estimate(10, 3).seconds, 12);
  EXPECT_DOUBLE_EQ(curve.estimate(10, 3).sigma, 3);
  EXPECT_DOUBLE_EQ(curve.estimate(10, 0).seconds, 0);
}

TEST(CostCurve, RefusesCostsAndSizesWithoutSense) {
  EXPECT_THROW(CostCurve({}, 0.1), UsageError);
  EXPECT_THROW(CostCurve({{10, 0}}, 0.1), UsageError);
  EXPECT_THROW(CostCurve({{10, 1}, {10, 1}}, 0.1), UsageError);
  EXPECT_THROW(CostCurve({{0, 1}}, 0.1), UsageError);
  EXPECT_THROW(CostCurve({{10, 1}}, -0.1), UsageError);
}

TEST(CostCurve, GoesThroughTheMedianOfEverySize) {
  const CostCurve curve =
      fit_curve({{100, 2, 6}, {10, 1, 5}, {10, 1, 500}, {10, 1, 4}, {100, 2, 6}});
  ASSERT_EQ(curve.points().size(), 2u);
  EXPECT_DOUBLE_EQ(curve.points()[0].seconds, 5);
  EXPECT_DOUBLE_EQ(curve.points()[1].seconds, 3);
}

TEST(CostCurve, IsAsUncertainAsItsSamplesScatterAndAsItsPointsBend) {
  EXPECT_NEAR(fit_curve({{10, 1, 9}, {10, 1, 10}, {10, 1, 11}}).uncertainty(), 0.148, 0.001);
  // One disturbed turn of three must not matter.
  EXPECT_NEAR(fit_curve({{10, 1, 9.9}, {10, 1, 10}, {10, 1, 20}}).uncertainty(), 0.02, 0.001);
  // The middle point is a factor of two below the line through its neighbours.
  EXPECT_NEAR(fit_curve({{10, 1, 4}, {100, 1, 1}, {1000, 1, 1}}).uncertainty(), 0.25, 0.001);
  // Even a perfect fit is uncertain, because of other load on the machine.
  EXPECT_DOUBLE_EQ(fit_curve({{10, 1, 4}}).uncertainty(), 0.02);
}

TEST(CostCurve, LiesBetweenTwoSpeeds) {
  const CostCurve curve = fit_curve({{10, 1, 4}, {10, 1, 1}, {10, 1, 1.3}, {10, 1, 1}, {10, 1, 1}});
  EXPECT_DOUBLE_EQ(curve.points()[0].seconds, 1.1);
  // 1.4826 times the mean of the deviations in the middle: 0.1, 0.1 and 0.2 of 1.1.
  EXPECT_NEAR(curve.uncertainty(), 1.4826 * 0.4 / 3 / 1.1, 0.001);
}

TEST(SpreadOfTurns, ComparesTheTurnsOfEachCase) {
  // Two cases of very different cost in each of two turns.
  EXPECT_DOUBLE_EQ(spread_of_turns({{10, 1, 2}, {10, 1, 40}, {10, 1, 3}, {10, 1, 50}}, 2), 1.5);
  EXPECT_DOUBLE_EQ(spread_of_turns({{10, 1, 2}, {20, 4, 8}, {30, 2, 12}}, 3), 3);
}

TEST(SpreadOfTurns, DoesNotCountOneSlowTurnOfFive) {
  EXPECT_DOUBLE_EQ(
      spread_of_turns({{10, 1, 2}, {10, 1, 2.2}, {10, 1, 90}, {10, 1, 1}, {10, 1, 2}}, 5), 1.1);
  EXPECT_DOUBLE_EQ(
      spread_of_turns({{10, 1, 2}, {10, 1, 6}, {10, 1, 90}, {10, 1, 1}, {10, 1, 2}}, 5), 3);
}

TEST(SpreadOfTurns, IsOneWhereNothingCanBeCompared) {
  EXPECT_EQ(spread_of_turns({}, 5), 1);
  EXPECT_EQ(spread_of_turns({{10, 1, 2}, {10, 1, 90}}, 1), 1);
  EXPECT_EQ(spread_of_turns({{10, 1, 2}, {10, 1, 90}, {10, 1, 3}}, 2), 1);
  EXPECT_EQ(spread_of_turns({{10, 1, 1e-5}, {10, 1, 9e-4}}, 2), 1);  // too short to be told
}

TEST(Estimate, AddsIndependentErrorsAsSquaresAndRepeatedOnesAsTheyAre) {
  const Estimate sum = Estimate{1, 0.3} + Estimate{2, 0.4};
  EXPECT_DOUBLE_EQ(sum.seconds, 3);
  EXPECT_DOUBLE_EQ(sum.sigma, 0.5);
  const Estimate twice = 2 * Estimate{1, 0.3};
  EXPECT_DOUBLE_EQ(twice.seconds, 2);
  EXPECT_DOUBLE_EQ(twice.sigma, 0.6);
}

TEST(CostCurve, OfSeveralLaunchesCountsWhatEachOfThemCannotSee) {
  const CostCurve a({{10, 1}, {20, 2}}, 0.03);
  const CostCurve b({{10, 1.2}, {20, 2.4}}, 0.05);
  const CostCurve c({{10, 1.5}, {20, 3}}, 0.04);
  const CostCurve all = combine_curves({a, b, c});
  ASSERT_EQ(all.points().size(), 2u);
  EXPECT_DOUBLE_EQ(all.points()[0].seconds, 1.2);
  EXPECT_DOUBLE_EQ(all.points()[1].seconds, 2.4);
  // 1 / 1.2 and 1.5 / 1.2, at both sizes.
  const double between = std::hypot(1.0 / 6, 0.25) / std::sqrt(2.0);
  EXPECT_NEAR(all.uncertainty(), std::hypot(0.04, between), 1e-12);
  EXPECT_DOUBLE_EQ(combine_curves({a, a, a}).uncertainty(), 0.03);
  EXPECT_THROW(combine_curves({a}), UsageError);
  EXPECT_THROW(combine_curves({a, CostCurve({{10, 1}, {21, 2}}, 0.03)}), UsageError);
}

}  // namespace
}  // namespace ringweave::detail
