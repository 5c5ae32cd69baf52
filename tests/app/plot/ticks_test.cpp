// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/ticks.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>

namespace ringweave::detail {
namespace {

using testing::ElementsAre;

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  const Ticks ticks = linear_ticks(-0.83, 1.21, 9);
  EXPECT_THAT(ticks.places, ElementsAre(-0.5, 0.0, 0.5, 1.0));
  EXPECT_THAT(ticks.labels, ElementsAre("\u22120.5", "0", "0.5", "1.0"));
  EXPECT_EQ(ticks.exponent, 0);
}

TEST(Ticks, ShareAPowerOfTenWhenNumbersAreSmallOrLarge) {
  const Ticks small = linear_ticks(-3.3e-4, 3.3e-4, 9);
  EXPECT_EQ(small.exponent, -4);
  EXPECT_THAT(small.places, ElementsAre(-3e-4, -2e-4, -1e-4, 0.0, 1e-4, 2e-4, 3e-4));
  EXPECT_THAT(small.labels, ElementsAre("\u22123", "\u22122", "\u22121", "0", "1", "2", "3"));
  const Ticks large = linear_ticks(0, 2.5e6, 9);
  EXPECT_EQ(large.exponent, 6);
  EXPECT_THAT(large.labels, ElementsAre("0", "0.5", "1.0", "1.5", "2.0", "2.5"));
}

TEST(Ticks, KeepTheDigitsThatTellThemApartFarFromZero) {
  const Ticks ticks = linear_ticks(2.7254, 2.7256, 6);
  EXPECT_THAT(ticks.labels, ElementsAre("2.72540", "2.72545", "2.72550", "2.72555", "2.72560"));
}

TEST(Ticks, AreNeverMoreThanAskedFor) {
  for (int most = 2; most < 12; ++most) {
    for (double high = 1.0; high < 20; high *= 1.07) {
      const auto count = static_cast<int>(linear_ticks(-0.37, high, most).places.size());
      EXPECT_LE(count, most) << "up to " << high;
      EXPECT_GE(count, most > 3 ? 2 : 1) << "up to " << high;
    }
  }
}

TEST(Ticks, OnALogarithmicAxisArePowersOfTen) {
  const Ticks ticks = logarithmic_ticks(2e-6, 3e-2, 9);
  ASSERT_EQ(ticks.places.size(), 4U);
  EXPECT_DOUBLE_EQ(ticks.places[0], 1e-5);
  EXPECT_THAT(ticks.labels,
              ElementsAre("10^{\u22125}", "10^{\u22124}", "10^{\u22123}", "10^{\u22122}"));
}

TEST(Ticks, OnAShortLogarithmicAxisFillTheDecade) {
  EXPECT_THAT(logarithmic_ticks(2, 95, 9).labels, ElementsAre("2", "5", "10", "20", "50"));
}

TEST(Ticks, HaveOneStyleOnAnAxis) {
  EXPECT_THAT(logarithmic_ticks(1e-2, 1e4, 9).labels,
              ElementsAre("0.01", "0.1", "1", "10", "100", "1000", "10000"));
  EXPECT_THAT(
      logarithmic_ticks(1e-3, 1e2, 9).labels,
      ElementsAre("10^{\u22123}", "10^{\u22122}", "10^{\u22121}", "10^{0}", "10^{1}", "10^{2}"));
  EXPECT_THAT(asinh_ticks(-2e5, 2e5, 1, 5).labels,
              testing::Each(testing::AnyOf("0", testing::HasSubstr("10^{"))));
}

TEST(Ticks, OfAsinhAreZeroAndPowersOfTenOfBothSigns) {
  const Ticks ticks = asinh_ticks(-300, 300, 10, 10);
  EXPECT_THAT(ticks.labels, ElementsAre("\u2212100", "\u221210", "0", "10", "100"));
  EXPECT_THAT(ticks.places, ElementsAre(-100, -10, 0, 10, 100));
  // Nearly linear: there is room between the powers of ten.
  EXPECT_THAT(asinh_ticks(-1, 1, 1, 9).labels,
              ElementsAre("\u22121", "\u22120.5", "\u22120.2", "0", "0.2", "0.5", "1"));
  EXPECT_THAT(asinh_ticks(5, 2e6, 1e-3, 6).labels,
              ElementsAre("10^{1}", "10^{2}", "10^{3}", "10^{4}", "10^{5}", "10^{6}"));
}

TEST(Ticks, OfAsinhKeepTheirDistance) {
  for (const double width : {1e-6, 1e-2, 1.0, 1e3}) {
    const Ticks ticks = asinh_ticks(-0.03, 40, width, 9);
    for (std::size_t i = 1; i < ticks.places.size(); ++i) {
      const double gap =
          std::asinh(ticks.places[i] / width) - std::asinh(ticks.places[i - 1] / width);
      EXPECT_GE(gap, (std::asinh(40 / width) + std::asinh(0.03 / width)) / 9 * (1 - 1e-9)) << width;
    }
  }
}

TEST(Ticks, RoundUpToTwoDigits) {
  EXPECT_DOUBLE_EQ(round_up(0.00032401), 0.00033);
  EXPECT_DOUBLE_EQ(round_up(4.2), 4.2);
  EXPECT_DOUBLE_EQ(round_up(996), 1000);
}

}  // namespace
}  // namespace ringweave::detail
