// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <numbers>

namespace ringweave::detail::inline legendre::sweep {

inline constexpr int exp2_terms = 14;

/// Coefficients ln(2)^n / n! of 2^f; the truncation error is below 4e-18 for |f| <= 1/2.
inline constexpr std::array<double, exp2_terms> exp2_series = [] {
  std::array<double, exp2_terms> series{};
  long double term = 1;
  for (int n = 0; n < exp2_terms; ++n) {
    series[static_cast<unsigned>(n)] = static_cast<double>(term);
    term *= std::numbers::ln2_v<long double> / (n + 1);
  }
  return series;
}();

}  // namespace ringweave::detail::inline legendre::sweep
