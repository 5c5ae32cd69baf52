// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_length.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <set>
#include <vector>

#include "fft/host/unit_powers.hpp"

namespace ringweave {
namespace {

TEST(RingLength, FactorsAreFound) {
  EXPECT_EQ(largest_prime_factor(1), 1);
  EXPECT_EQ(largest_prime_factor(64), 2);
  EXPECT_EQ(largest_prime_factor(4 * 1021), 1021);
  EXPECT_EQ(largest_prime_factor(17 * 17), 17);
  EXPECT_EQ(largest_prime_factor(2 * 3 * 5 * 7 * 11 * 13), 13);
}

TEST(RingLength, ConvolutionsAreLongEnoughSmoothAndNotMuchTooLong) {
  for (std::int64_t n = 1; n <= 20000; ++n) {
    const RingLength length(n);
    EXPECT_EQ(length.n_complex, n % 2 == 0 ? n / 2 : n);
    if (!length.is_chirp()) continue;
    const std::int64_t wanted = 2 * length.n_complex - 1;
    EXPECT_GE(length.n_convolution, wanted);
    EXPECT_LE(static_cast<double>(length.n_convolution), 1.125 * static_cast<double>(wanted) + 24);
    EXPECT_LE(largest_prime_factor(length.n_convolution), 5);
  }
}

TEST(RingLength, WholeHealpixMapNeedsFewPlans) {
  std::set<std::int64_t> plans;
  for (std::int64_t i = 1; i <= 2048; ++i) {
    const RingLength length(4 * i);
    plans.insert(length.is_chirp() ? length.n_convolution : length.n_complex);
  }
  EXPECT_LE(plans.size(), 450U);
}

TEST(UnitPowers, ManyTurnsKeepFullPrecision) {
  const long double pi = std::numbers::pi_v<long double>;
  const std::vector<UnitPowers::Request> requests{{pi / 4, 5000}, {pi / 8191, 16382}, {static_cast<long double>(1.7), 40000}, {-0.3L, 1}};
  const UnitPowers powers(requests);
  for (std::size_t table = 0; table < requests.size(); ++table) {
    const std::int64_t count = requests[table].count;
    std::vector<std::complex<double>> values(static_cast<std::size_t>(count));
    const auto id = static_cast<std::int64_t>(table);
    powers.expand(id, count, values.data());
    for (std::int64_t k = 0; k < count; ++k) {
      // k angle in two parts: as one product it would not fit the digits of a long double.
      const long double angle = requests[table].angle;
      const auto exact = std::polar(1.0L, static_cast<long double>(k - k % 64) * angle) *
                         std::polar(1.0L, static_cast<long double>(k % 64) * angle);
      const auto error = std::abs(std::complex<long double>(values[static_cast<std::size_t>(k)]) - exact);
      EXPECT_LE(error, 5e-16L) << table << ' ' << k;
      EXPECT_EQ(powers.value(id, k), values[static_cast<std::size_t>(k)]);
    }
  }
}

}  // namespace
}  // namespace ringweave
