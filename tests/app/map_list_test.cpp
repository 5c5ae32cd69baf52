// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/map_list.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

using Seeds = std::vector<std::uint64_t>;

TEST(Seeds, AreNumbersAndRangesInTheOrderGiven) {
  EXPECT_EQ(parse_seeds("7"), Seeds{7});
  EXPECT_EQ(parse_seeds("1..4,7,9"), (Seeds{1, 2, 3, 4, 7, 9}));
  EXPECT_EQ(parse_seeds("9,0..1"), (Seeds{9, 0, 1}));
  EXPECT_EQ(parse_seeds("18446744073709551615"), Seeds{UINT64_MAX});
  EXPECT_EQ(parse_seeds("18446744073709551614..18446744073709551615").size(), 2u);
}

TEST(Seeds, AnythingElseIsRefused) {
  for (const char* text : {"", "lucky", "-1", "1,,2", "1,", "1..", "..2", "1.5", "1 2", "0x10",
                           "18446744073709551616"}) {
    expect_error(ErrorKind::usage, "--seed", [&] { parse_seeds(text); });
  }
  expect_error(ErrorKind::usage, "4..1 ends before it begins", [] { parse_seeds("4..1"); });
  expect_error(ErrorKind::usage, "3 is given twice", [] { parse_seeds("1..4,3"); });
  expect_error(ErrorKind::usage, "at most 1000000", [] { parse_seeds("1..18446744073709551615"); });
}

TEST(Names, HaveTheSeedOrTheInputFilledIn) {
  EXPECT_EQ(with_seed("maps/{seed}/sky_{seed}.h5", 12), "maps/12/sky_12.h5");
  EXPECT_EQ(with_seed("sky.h5", 12), "sky.h5");
  EXPECT_EQ(with_name("out/{name}_smooth.h5", "in/sky.v2.fits"), "out/sky.v2_smooth.h5");
  EXPECT_EQ(with_name("{name}.h5", "sky.fits.gz"), "sky.h5");
  EXPECT_EQ(with_name("{name}.h5", "in/{name}.fits"), "{name}.h5");
}

TEST(Names, OfSeveralMapsDiffer) {
  require_place("sky.h5", "{seed}", "OUT", 1);
  require_place("sky_{seed}.h5", "{seed}", "OUT", 2);
  require_place("", "{seed}", "--save-alm", 2);
  expect_error(ErrorKind::usage, "OUT sky.h5: 2 maps need different names; write {seed}",
               [] { require_place("sky.h5", "{seed}", "OUT", 2); });
}

}  // namespace
}  // namespace ringweave::detail::test
