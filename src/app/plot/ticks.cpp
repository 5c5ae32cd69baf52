// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ringweave::detail::inline app {
namespace {

/// Returns digits * 10^exponent, rounded once.
double decimal(double digits, int exponent) {
  return exponent >= 0 ? digits * std::pow(10.0, exponent) : digits / std::pow(10.0, -exponent);
}

/// Formats in fixed point with a typographic minus sign.
std::string written(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", std::abs(value), std::max(decimals, 0));
  return value < 0 ? "\u2212" + text : text;
}

struct Step {
  int digit = 1;  ///< 1, 2 or 5
  int exponent = 0;
};

Step step_for(double span, int most) {
  const double least = span / most;
  int exponent = static_cast<int>(std::floor(std::log10(least))) - 1;
  for (;; ++exponent) {
    for (const int digit : {1, 2, 5}) {
      if (decimal(digit, exponent) >= least * (1 - 1e-12)) return {digit, exponent};
    }
  }
}

}  // namespace

Ticks linear_ticks(double low, double high, int most) {
  const Step step = step_for(high - low, std::max(most - 1, 1));
  const double width = decimal(step.digit, step.exponent);
  const double slack = 1e-9 * (high - low) / width;
  const auto first = static_cast<std::int64_t>(std::ceil(low / width - slack));
  const auto last = static_cast<std::int64_t>(std::floor(high / width + slack));
  const double largest = std::max(std::abs(low), std::abs(high));
  const int magnitude = static_cast<int>(std::floor(std::log10(largest) + 1e-12));

  Ticks ticks;
  if (magnitude >= 5 || magnitude <= -3) ticks.exponent = magnitude;
  for (std::int64_t i = first; i <= last; ++i) {
    const double digits = static_cast<double>(i * step.digit);
    ticks.places.push_back(decimal(digits, step.exponent));
    ticks.labels.push_back(i == 0 ? "0"
                                  : written(decimal(digits, step.exponent - ticks.exponent),
                                            ticks.exponent - step.exponent));
  }
  return ticks;
}

Ticks logarithmic_ticks(double low, double high, int most) {
  const double slack = 1e-9;
  const int first = static_cast<int>(std::floor(std::log10(low) + slack));
  const int last = static_cast<int>(std::ceil(std::log10(high) - slack));
  const bool short_axis = std::log10(high / low) < 2;
  const int stride = std::max(1, (last - first + most) / std::max(most, 1));
  Ticks ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const int digit : {1, 2, 5}) {
      if (digit > 1 && !short_axis) break;
      if (exponent % stride != 0) continue;
      const double place = decimal(digit, exponent);
      if (place < low * (1 - slack) || place > high * (1 + slack)) continue;
      ticks.places.push_back(place);
      if (exponent >= -2 && exponent <= 4) {
        ticks.labels.push_back(written(place, -exponent));
      } else {
        ticks.labels.push_back(fmt::format(
            "{}10^{{{}}}", digit == 1 ? "" : fmt::format("{}\u00d7", digit), written(exponent, 0)));
      }
    }
  }
  return ticks;
}

double round_up(double value) {
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - 1;
  const double digits = value / std::pow(10.0, exponent);
  return decimal(std::ceil(digits * (1 - 1e-12)), exponent);
}

}  // namespace ringweave::detail::inline app
