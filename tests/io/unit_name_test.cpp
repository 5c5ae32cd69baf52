// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/unit_name.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace ringweave::detail {
namespace {

TEST(UnitName, OfASpectrumGivesTheMaps) {
  EXPECT_EQ(unit_of_root("uK^2"), "uK");
  EXPECT_EQ(unit_of_root("(K_CMB)^2"), "K_CMB");
  EXPECT_EQ(unit_of_root("K**2"), "K");
  EXPECT_EQ(unit_of_root("uK"), "");
  EXPECT_EQ(unit_of_root("unknown"), "");
  EXPECT_EQ(unit_of_root("(MJy/sr)^2"), "MJy/sr");
  EXPECT_EQ(unit_of_root("MJy/sr^2"), "");
}

TEST(UnitName, OfWordsForNoneIsNone) {
  EXPECT_EQ(known_unit("unknown"), "");
  EXPECT_EQ(known_unit("uK"), "uK");
}

TEST(UnitName, TemperaturesAreConverted) {
  EXPECT_EQ(temperature_factor("uK", "K"), 1e-6);
  EXPECT_EQ(temperature_factor("K", "muK"), 1e6);
  EXPECT_EQ(temperature_factor("mK", "uK"), 1e3);
  EXPECT_EQ(temperature_factor("K_CMB", "mK"), 1e3);
  EXPECT_EQ(temperature_factor("K_CMB", "K_RJ"), std::nullopt);
  EXPECT_EQ(temperature_factor("K", "K_RJ"), std::nullopt);
  EXPECT_EQ(temperature_factor("uK_RJ", "K_RJ"), 1e-6);
  EXPECT_EQ(temperature_factor("K", "MJy/sr"), std::nullopt);
  EXPECT_EQ(temperature_factor("Jy", "K"), std::nullopt);
}

}  // namespace
}  // namespace ringweave::detail
