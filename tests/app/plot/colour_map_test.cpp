// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/colour_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

double decode(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// Returns the CIE lightness of a colour, 0 .. 100.
double lightness(const Colour& colour) {
  const double y = 0.2126729 * decode(colour.red) + 0.7151522 * decode(colour.green) +
                   0.0721750 * decode(colour.blue);
  return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389.0 / 27;
}

TEST(ColourMap, MeadowAndGreyGrowLighterAllTheWayAtAnEvenPace) {
  for (const char* name : {"meadow", "grey"}) {
    const ColourMap colours = ColourMap::from_name(name);
    const double first = lightness(colours(0)), last = lightness(colours(1));
    for (int i = 1; i <= 100; ++i) {
      const double place = i / 100.0;
      EXPECT_GT(lightness(colours(place)), lightness(colours(place - 0.01))) << name << place;
      EXPECT_NEAR(lightness(colours(place)), first + place * (last - first), 2.5) << name << place;
    }
  }
}

TEST(ColourMap, PolarIsLightestInTheMiddleAndBothArmsAreEquallyLight) {
  const ColourMap colours = ColourMap::from_name("polar");
  EXPECT_GT(lightness(colours(0.5)), 95);
  for (double distance = 0; distance <= 0.5; distance += 0.05) {
    EXPECT_NEAR(lightness(colours(0.5 - distance)), lightness(colours(0.5 + distance)), 1.5);
  }
  EXPECT_GT(colours(0).blue, colours(0).red);
  EXPECT_GT(colours(1).red, colours(1).blue);
}

TEST(ColourMap, NeighbouringColoursDifferLittle) {
  for (const std::string& name : ColourMap::names()) {
    const ColourMap colours = ColourMap::from_name(name);
    for (double place = 0.002; place <= 1; place += 0.002) {
      const Colour a = colours(place - 0.002), b = colours(place);
      EXPECT_LT(std::abs(a.red - b.red), 0.02) << name << " at " << place;
      EXPECT_LT(std::abs(a.green - b.green), 0.02) << name << " at " << place;
      EXPECT_LT(std::abs(a.blue - b.blue), 0.02) << name << " at " << place;
    }
  }
}

TEST(ColourMap, ViridisIsThePublishedOne) {
  // Rows 0, 64, 128, 192 and 255 of its table.
  constexpr std::array<std::array<int, 3>, 5> published{
      {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
  const ColourMap colours = ColourMap::from_name("viridis");
  for (std::size_t i = 0; i < published.size(); ++i) {
    const double place = i == 4 ? 1.0 : static_cast<double>(64 * i) / 255;
    const Colour colour = colours(place);
    EXPECT_NEAR(255 * colour.red, published[i][0], 4) << place;
    EXPECT_NEAR(255 * colour.green, published[i][1], 4) << place;
    EXPECT_NEAR(255 * colour.blue, published[i][2], 4) << place;
  }
}

TEST(ColourMap, PlanckRunsFromBlueOverCreamToDarkRed) {
  const ColourMap colours = ColourMap::from_name("planck");
  EXPECT_GT(colours(0).blue, 0.7);
  EXPECT_GT(lightness(colours(0.5)), 90);
  EXPECT_LT(lightness(colours(1)), 25);
  EXPECT_GT(colours(0.75).red, 2 * colours(0.75).blue);
}

TEST(ColourMap, RefusesANameItDoesNotKnow) {
  EXPECT_THROW(ColourMap::from_name("plaid"), UsageError);
}

}  // namespace
}  // namespace ringweave::detail
