// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cosmic_variance.hpp"

#include <gtest/gtest.h>

namespace ringweave::detail {
namespace {

TEST(CosmicVariance, IsThatOfAGaussianSky) {
  Spectra expected(4);
  expected.values(Spectra::TT)[3] = 2;
  expected.values(Spectra::EE)[3] = 5;
  expected.values(Spectra::TE)[3] = -1;
  EXPECT_DOUBLE_EQ(cosmic_variance(expected, Spectra::TT, 3), 2 * 4.0 / 7);
  EXPECT_DOUBLE_EQ(cosmic_variance(expected, Spectra::TE, 3), (1 + 2 * 5.0) / 7);
  EXPECT_DOUBLE_EQ(cosmic_variance(expected, Spectra::TT, 4), 0);
}

TEST(CosmicVariance, IsZeroWhereASpectrumIsNotKnown) {
  Spectra expected(4);
  expected.values(Spectra::TT)[3] = 2;
  expected.values(Spectra::TE)[3] = 1;
  EXPECT_EQ(cosmic_variance(expected, Spectra::EE, 3), 0);
  EXPECT_EQ(cosmic_variance(expected, Spectra::TE, 3), 0);
}

}  // namespace
}  // namespace ringweave::detail
