// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/ring_arithmetic.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"

// Tests the functions that are compiled for both host and device.
namespace ringweave::detail::gpu {
namespace {

TEST(RingArithmetic, EveryOrderIsAnAliasOfOneBinOnceAndInOrder) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 9}) {
    for (const std::int64_t n_modes : {0, 1, 2, 3, 4, 5, 6, 7, 9, 30}) {
      std::vector<int> found(to_size(n_modes), 0);
      const std::int64_t n_aliases = alias_count(n, n_modes);
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        std::int64_t last = -1;
        for (std::int64_t alias = 0; alias <= n_aliases + 2; ++alias) {
          const std::int64_t m = alias_order(n, alias, k);
          if (m < 0) continue;
          EXPECT_GT(m, last);
          last = m;
          EXPECT_EQ((alias % 2 == 0 ? m : n - m % n) % n, k);
          if (m >= n_modes) continue;
          EXPECT_LT(alias, n_aliases);
          ++found[to_size(m)];
        }
      }
      EXPECT_EQ(found, std::vector<int>(to_size(n_modes), 1)) << n << " " << n_modes;
      bool last_is_needed = n_aliases == 0;
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        const std::int64_t m = n_aliases == 0 ? 0 : alias_order(n, n_aliases - 1, k);
        last_is_needed = last_is_needed || (m >= 0 && m < n_modes);
      }
      EXPECT_TRUE(last_is_needed) << n << " " << n_modes;
    }
  }
}

double gap(Double2 value, std::complex<long double> wanted) {
  return static_cast<double>(std::abs(std::complex<long double>(value.x, value.y) - wanted));
}

TEST(RingArithmetic, PhasesOfHighOrdersHaveTheirDigits) {
  for (const double angle : {1e-5, 0.3, 1.7, 3.1, 6.2}) {
    const UnitPowers powers({{static_cast<long double>(angle), 32769}});
    const auto* table = reinterpret_cast<const Double2*>(powers.factors().data());
    for (std::int64_t m = 0; m <= 32768; m += 31) {
      // An angle times few bits is exact in a long double.
      const auto low = static_cast<long double>(m % 32) * static_cast<long double>(angle);
      const auto high = static_cast<long double>(m / 32 * 32) * static_cast<long double>(angle);
      EXPECT_LE(gap(unit_power(table, m), std::polar(1.0L, low) * std::polar(1.0L, high)), 1e-15)
          << m;
    }
  }
}

TEST(RingArithmetic, ChirpsHaveTheirDigitsAtAnyLength) {
  for (const std::int64_t n : {1, 2, 3, 255, 4094, 65534, 65536, 131070, 1000003}) {
    const long double pi = std::numbers::pi_v<long double>;
    const UnitPowers powers({{pi / static_cast<long double>(n), n}});
    const auto* table = reinterpret_cast<const Double2*>(powers.factors().data());
    const auto expect_close = [&](std::int64_t k) {
      const auto turn = static_cast<long double>(k * k % (2 * n)) / static_cast<long double>(n);
      EXPECT_LE(gap(chirp_value(table, n, k), std::polar(1.0L, pi * turn)), 1e-15) << n << " " << k;
    };
    for (std::int64_t k = 0; k < n; k += n / 1000 + 1) expect_close(k);
    expect_close(n - 1);
  }
}

}  // namespace
}  // namespace ringweave::detail::gpu
