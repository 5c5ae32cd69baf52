// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/fine_position.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

constexpr long double long_pi = std::numbers::pi_v<long double>;

/// Returns how far a position is from the exact one, modulo `period`.
double error_of(const FinePosition& position, long double exact, std::int64_t period) {
  const long double difference =
      static_cast<long double>(position.index) - exact + static_cast<long double>(position.offset);
  return static_cast<double>(
      std::fabs(std::remainder(difference, static_cast<long double>(period))));
}

std::vector<double> random_thetas() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, std::numbers::pi);
  std::vector<double> thetas{0, 1e-300, 1e-20, 1e-9, std::numbers::pi / 2, std::numbers::pi};
  for (int i = 0; i < 2000; ++i) {
    thetas.push_back(uniform(random));
    thetas.push_back(std::numbers::pi - thetas.back() * 1e-6);
  }
  return thetas;
}

TEST(FinePosition, IsExactAmongRowsFromPoleToPole) {
  for (const std::int64_t n : {1, 2, 7, 16, 1001, 8192}) {
    for (const double theta : random_thetas()) {
      const FinePosition position = row_position(theta, n);
      const auto rows = static_cast<long double>(n);
      const long double exact = rows * theta / long_pi - 0.5L;
      EXPECT_LT(error_of(position, exact, 10 * n), 2e-15) << theta << " of " << n;
      EXPECT_GE(position.index, 0);
      EXPECT_LT(position.index, n);
      EXPECT_LE(std::fabs(position.offset), 0.5 + 1e-16 * static_cast<double>(n));
    }
    EXPECT_EQ(row_position(0, n).offset, -0.5);
  }
}

TEST(FinePosition, KeepsTheDigitsOfPointsNextToTheSouthPole) {
  // The double pi is 1.2246e-16 north of the pole, which half a row hides, but not 1e13 rows.
  const auto n = static_cast<std::int64_t>(1e13);
  const FinePosition position = row_position(std::numbers::pi, n);
  EXPECT_EQ(position.index, n - 1);
  EXPECT_NEAR(position.offset, 0.5 - 1.2246467991473532e-16 / std::numbers::pi * 1e13, 1e-15);
}

TEST(FinePosition, OfARingsOwnColatitudeIsTheRing) {
  const RingGrid grid = RingGrid::fejer(300, 600);
  for (std::int64_t r = 0; r < 300; ++r) {
    const FinePosition position = row_position(grid.ring(RingId{r}).theta, 300);
    EXPECT_EQ(position.index, r);
    EXPECT_NEAR(position.offset, 0, 5e-14);
  }
}

TEST(FinePosition, IsExactAmongColumnsForAnyTurnOfPhi) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const std::int64_t n : {1, 2, 12, 1000, 16384}) {
    for (const double scale : {1e-12, 1.0, 7.0, 100.0, 1e5}) {
      for (int i = 0; i < 300; ++i) {
        const double phi = scale * uniform(random);
        const FinePosition position = column_position(phi, n);
        const auto columns = static_cast<long double>(n);
        const long double exact = columns * (phi / (2 * long_pi));
        EXPECT_LT(error_of(position, exact, n), 2e-15 + 1e-18 * scale * static_cast<double>(n))
            << phi << " of " << n;
        EXPECT_GE(position.index, 0);
        EXPECT_LT(position.index, n);
        EXPECT_LE(std::fabs(position.offset), 0.5 + 1e-6);
      }
    }
  }
}

TEST(FinePosition, TakesEveryFinitePhi) {
  for (const double phi : {0.0, -0.0, 1e6, -1e7, 1e15, 3e18, -1e100, 1.7e308}) {
    for (const std::int64_t n : {1, 16384}) {
      const FinePosition position = column_position(phi, n);
      EXPECT_GE(position.index, 0) << phi;
      EXPECT_LT(position.index, n) << phi;
      EXPECT_LE(std::fabs(position.offset), 0.5) << phi;
      const FinePosition reduced = column_position(std::fmod(phi, 2 * std::numbers::pi), n);
      if (std::fabs(phi) > 2e6) {
        EXPECT_EQ(position.index, reduced.index) << phi;
        EXPECT_EQ(position.offset, reduced.offset) << phi;
      }
    }
  }
}

TEST(FinePosition, HasItsTapsAroundIt) {
  for (const int n_taps : {1, 2, 4, 5, 16}) {
    for (const FinePosition position :
         {FinePosition{7, 0}, FinePosition{7, 0.25}, FinePosition{7, -0.25}, FinePosition{0, -0.5},
          FinePosition{9, 0.5}}) {
      const double u = static_cast<double>(position.index) + position.offset;
      EXPECT_EQ(first_tap(position, n_taps),
                static_cast<std::int64_t>(std::ceil(u - n_taps / 2.0)));
    }
  }
}

TEST(FinePosition, FoldsRowsBeyondThePolesTurned) {
  const auto folded = [](std::int64_t row) {
    const FoldedRow result = folded_row(row, 5);
    return std::pair{result.row, result.is_turned};
  };
  EXPECT_EQ(folded(0), std::pair(std::int64_t{0}, false));
  EXPECT_EQ(folded(4), std::pair(std::int64_t{4}, false));
  EXPECT_EQ(folded(-1), std::pair(std::int64_t{0}, true));
  EXPECT_EQ(folded(-4), std::pair(std::int64_t{3}, true));
  EXPECT_EQ(folded(5), std::pair(std::int64_t{4}, true));
  EXPECT_EQ(folded(8), std::pair(std::int64_t{1}, true));
  // Once round the whole circle.
  for (std::int64_t row = -25; row < 25; ++row) EXPECT_EQ(folded(row), folded(row + 10));
}

}  // namespace
}  // namespace ringweave::detail
