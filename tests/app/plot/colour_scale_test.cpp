// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/colour_scale.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

constexpr ScaleKind every_kind[] = {ScaleKind::linear, ScaleKind::logarithmic, ScaleKind::asinh};

TEST(ColourScale, EndsAreZeroAndOneAndPlacesRise) {
  for (const ScaleKind kind : every_kind) {
    const ColourScale scale(kind, {0.5, 800}, 3);
    EXPECT_DOUBLE_EQ(scale.place(0.5), 0);
    EXPECT_DOUBLE_EQ(scale.place(800), 1);
    for (double value = 1; value < 700; value *= 1.3)
      EXPECT_LT(scale.place(value), scale.place(1.3 * value));
  }
}

TEST(ColourScale, LogarithmicGivesEveryDecadeTheSameColours) {
  const ColourScale scale(ScaleKind::logarithmic, {1, 1000});
  EXPECT_NEAR(scale.place(10), 1.0 / 3, 1e-14);
  EXPECT_NEAR(scale.place(100), 2.0 / 3, 1e-14);
  EXPECT_FALSE(scale.shows(0));
  EXPECT_FALSE(scale.shows(-1));
  EXPECT_TRUE(scale.shows(1e-9));
}

TEST(ColourScale, AsinhIsOddLinearNearZeroAndLogarithmicFarFromIt) {
  const ColourScale scale(ScaleKind::asinh, {-1e6, 1e6}, 10);
  EXPECT_DOUBLE_EQ(scale.place(0), 0.5);
  EXPECT_NEAR(scale.place(123) - 0.5, 0.5 - scale.place(-123), 1e-14);
  EXPECT_NEAR((scale.place(0.2) - 0.5) / (scale.place(0.1) - 0.5), 2, 1e-3);
  EXPECT_NEAR(scale.place(1e5) - scale.place(1e4), scale.place(1e6) - scale.place(1e5), 1e-5);
  EXPECT_TRUE(scale.shows(-5));
}

TEST(ColourScale, HoldsNeitherUnseenNorNan) {
  for (const ScaleKind kind : every_kind) {
    const ColourScale scale(kind, {1, 2});
    EXPECT_FALSE(scale.shows(unseen));
    EXPECT_FALSE(scale.shows(std::numeric_limits<double>::quiet_NaN()));
  }
}

TEST(ColourScale, HasAtLeastTwoMarksHoweverShortTheRange) {
  for (const ScaleKind kind : every_kind) {
    EXPECT_GE(ColourScale(kind, {2.1, 4.9}, 1).ticks(9).places.size(), 2U);
    EXPECT_GE(ColourScale(kind, {2.7254, 2.7256}, 1).ticks(9).places.size(), 2U);
  }
}

TEST(ColourScale, RefusesRangesThatItCannotShow) {
  for (const ScaleKind kind : every_kind) EXPECT_THROW(ColourScale(kind, {3, 2}), UsageError);
  EXPECT_THROW(ColourScale(ScaleKind::logarithmic, {0, 1}), UsageError);
  EXPECT_THROW(ColourScale(ScaleKind::asinh, {0, 1}, 0), UsageError);
}

TEST(ColourRange, OfALogarithmBeginsAtThePositiveValues) {
  std::vector<double> raster{-5, 0, unseen};
  for (int i = 1; i <= 1000; ++i) raster.push_back(i);
  const ColourRange range = colour_range(raster, ScaleKind::logarithmic);
  EXPECT_NEAR(range.low, 6, 1);
  EXPECT_EQ(range.high, 1000);
  raster.assign(1000, 1e-30);
  raster.push_back(1);
  EXPECT_DOUBLE_EQ(colour_range(raster, ScaleKind::logarithmic).low, 1e-6);
}

TEST(ColourRange, OfAsinhHoldsEveryValue) {
  std::vector<double> raster;
  for (int i = -1000; i <= 1000; ++i) raster.push_back(i);
  raster.push_back(123456);
  const ColourRange range = colour_range(raster, ScaleKind::asinh);
  EXPECT_EQ(range.high, 130000);
  EXPECT_EQ(range.low, -130000);
}

TEST(ColourRange, OfEveryKindCanBeDrawn) {
  for (const ScaleKind kind : every_kind) {
    for (const double value : {3.0, 0.0, -2.0, unseen})
      EXPECT_NO_THROW(
          ColourScale(kind, colour_range({value, value}, kind), default_linear_range({value})));
  }
}

TEST(LinearRange, IsTheMedianOfTheSizes) {
  EXPECT_EQ(default_linear_range({-3, 0, 0, 0, unseen, 1, 2}), 2);
  EXPECT_EQ(default_linear_range({0, 0}), 1);
}

}  // namespace
}  // namespace ringweave::detail
