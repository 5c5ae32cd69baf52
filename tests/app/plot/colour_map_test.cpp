// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/colour_map.hpp"

#include <gtest/gtest.h>

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

TEST(ColourMap, RefusesANameItDoesNotKnow) {
  EXPECT_THROW(ColourMap::from_name("plaid"), UsageError);
}

}  // namespace
}  // namespace ringweave::detail
