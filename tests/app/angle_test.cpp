// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/angle.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "support/angles.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

void expect_no_angle(const std::string& text, const std::string& words) {
  expect_error(ErrorKind::usage, "--fwhm " + text, [&] { parse_angle(text, "--fwhm"); });
  expect_error(ErrorKind::usage, words, [&] { parse_angle(text, "--fwhm"); });
}

TEST(Angle, HasOneOfFourUnits) {
  EXPECT_DOUBLE_EQ(parse_angle("1.5deg", "--fwhm"), 1.5 * degree);
  EXPECT_DOUBLE_EQ(parse_angle("30arcmin", "--fwhm"), 0.5 * degree);
  EXPECT_DOUBLE_EQ(parse_angle("3600arcsec", "--fwhm"), degree);
  EXPECT_DOUBLE_EQ(parse_angle("0.01rad", "--fwhm"), 0.01);
  EXPECT_DOUBLE_EQ(parse_angle("-1e1deg", "--fwhm"), -10 * degree);
}

TEST(Angle, TakesUnitsAsPeopleWriteThem) {
  for (const char* text : {"5 deg", "5degrees", "5 degree", "300'", "300 arcminutes", "18000\"",
                           "18000arcseconds", "300arcmins", "18000 arcsecs", "5degs", "5\xc2\xb0"})
    EXPECT_DOUBLE_EQ(parse_angle(text, "--fwhm"), 5 * degree) << text;
  EXPECT_DOUBLE_EQ(parse_angle("2 radians", "--fwhm"), 2);
}

TEST(Angle, WithoutAUnitItIsRefusedWithTheUnitsThereAre) {
  expect_no_angle("5", "5arcmin");
  expect_no_angle("5", "unit");
}

TEST(Angle, WhatIsNoAngleIsNamed) {
  expect_no_angle("5parsec", "unknown unit 'parsec'");
  expect_no_angle("5acrmin", "unknown unit 'acrmin'; did you mean arcmin?");
  expect_no_angle("5furlong", "unknown unit 'furlong'; expected arcmin, deg, arcsec or rad");
  expect_no_angle("wide", "not an angle");
  expect_no_angle("", "not an angle");
  expect_no_angle("nandeg", "not an angle");
  expect_no_angle("infdeg", "not an angle");
  expect_no_angle("1e999deg", "not an angle");
}

TEST(Angle, AWidthIsNotNegativeAndNoMoreThanHalfACircle) {
  EXPECT_EQ(parse_width("0deg", "--fwhm"), 0);
  expect_error(ErrorKind::usage, "--fwhm -5deg", [] { parse_width("-5deg", "--fwhm"); });
  expect_error(ErrorKind::usage, "at most 180deg", [] { parse_width("400deg", "--fwhm"); });
}

TEST(Angle, ARangeBeginsBeforeItEnds) {
  const AngleRange range = parse_angle_range("-10deg:0.5rad", "--latitudes");
  EXPECT_DOUBLE_EQ(range.low, -10 * degree);
  EXPECT_DOUBLE_EQ(range.high, 0.5);
  const auto parse = [](const char* text) {
    return [text] { parse_angle_range(text, "--latitudes"); };
  };
  expect_error(ErrorKind::usage, "--latitudes 20deg:10deg", parse("20deg:10deg"));
  expect_error(ErrorKind::usage, "must be below", parse("10deg:10deg"));
  expect_error(ErrorKind::usage, "expected LOW:HIGH", parse("10deg"));
  expect_error(ErrorKind::usage, "needs a unit", parse("1:2deg"));
}

}  // namespace
}  // namespace ringweave::detail::test
