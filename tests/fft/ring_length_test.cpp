// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_length.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include "base/unit_powers.hpp"

namespace ringweave::detail {
namespace {

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return largest;
}

TEST(RingLength, SplitsIntoCoprimeSmoothAndAwkwardParts) {
  for (std::int64_t n = 1; n <= 3000; ++n) {
    const RingLength length(n);
    EXPECT_EQ(length.n_complex, n % 2 == 0 ? n / 2 : n);
    EXPECT_EQ(length.n_smooth * length.n_awkward, length.n_complex);
    EXPECT_EQ(std::gcd(length.n_smooth, length.n_awkward), 1);
    const std::int64_t largest = largest_prime_factor(length.n_complex);
    EXPECT_EQ(length.n_convolution > 0, largest > 43);
    EXPECT_LE(largest_prime_factor(length.n_smooth), largest > 43 ? 43 : 13);
    for (std::int64_t p = 2; p <= (largest > 43 ? 43 : 13); ++p)
      EXPECT_TRUE(length.n_awkward == 1 || length.n_awkward % p != 0);
  }
}

TEST(RingLength, ConvolutionsAreLongEnoughSmoothAndNotMuchTooLong) {
  for (std::int64_t n = 1; n <= 20000; ++n) {
    const RingLength length(n);
    if (length.n_convolution == 0) continue;
    const std::int64_t wanted = 2 * length.n_awkward - 1;
    EXPECT_GE(length.n_convolution, wanted);
    EXPECT_LE(static_cast<double>(length.n_convolution), 1.2 * static_cast<double>(wanted) + 16);
    EXPECT_LE(largest_prime_factor(length.n_convolution), 5);
  }
}

TEST(RingLength, RadicesMultiplyToTheirNumber) {
  for (const std::int64_t n : {1, 2, 16, 96, 430, 1677, 2560, 30030}) {
    const std::vector<int> radices = radices_of(n);
    EXPECT_EQ(std::accumulate(radices.begin(), radices.end(), std::int64_t{1}, std::multiplies<>()),
              n);
  }
}

TEST(RingLength, WholeHealpixMapNeedsFewLongPlans) {
  std::set<std::int64_t> plans;
  for (std::int64_t i = 1; i <= 2048; ++i) {
    const RingLength length(4 * i);
    plans.insert(length.is_smooth() ? length.n_complex : length.n_convolution);
  }
  EXPECT_LE(plans.size(), 450U);
}

TEST(UnitPowers, ManyTurnsKeepFullPrecision) {
  const long double pi = std::numbers::pi_v<long double>;
  const std::vector<UnitPowers::Request> requests{
      {pi / 4, 5000}, {pi / 8191, 16382}, {static_cast<long double>(1.7), 40000}, {-0.3L, 1}};
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
      for (const auto value : {values[static_cast<std::size_t>(k)], powers.value(id, k)}) {
        EXPECT_LE(std::abs(std::complex<long double>(value) - exact), 5e-16L) << table << ' ' << k;
      }
    }
  }
}

}  // namespace
}  // namespace ringweave::detail
