// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

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
  int digit = 1;  ///< 1, 2 or 5; of a mark also 0 or negative
  int exponent = 0;
  double value() const { return decimal(digit, exponent); }
};

/// Returns the marks with labels of one style: powers of ten if any number is small or large.
Ticks labelled(const std::vector<Step>& marks) {
  const bool are_plain = std::all_of(marks.begin(), marks.end(), [](const Step& mark) {
    return mark.digit == 0 || (mark.exponent >= -2 && mark.exponent <= 4);
  });
  Ticks ticks;
  for (const Step& mark : marks) {
    ticks.places.push_back(mark.value());
    if (are_plain || mark.digit == 0) {
      ticks.labels.push_back(written(mark.value(), mark.digit == 0 ? 0 : -mark.exponent));
      continue;
    }
    const int size = std::abs(mark.digit);
    ticks.labels.push_back(fmt::format("{}{}10^{{{}}}", mark.digit < 0 ? "\u2212" : "",
                                       size == 1 ? "" : fmt::format("{}\u00d7", size),
                                       written(mark.exponent, 0)));
  }
  return ticks;
}

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
  std::vector<Step> marks;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const int digit : {1, 2, 5}) {
      if (digit > 1 && !short_axis) break;
      if (exponent % stride != 0) continue;
      const double place = decimal(digit, exponent);
      if (place < low * (1 - slack) || place > high * (1 + slack)) continue;
      marks.push_back({digit, exponent});
    }
  }
  return labelled(marks);
}

Ticks asinh_ticks(double low, double high, double width, int most) {
  const auto transformed = [&](double value) { return std::asinh(value / width); };
  const double gap = (transformed(high) - transformed(low)) / most;
  const double slack = 1e-9 * std::max(std::abs(low), std::abs(high));
  std::vector<Step> marks;
  const auto offer = [&](const Step& step) {
    const double value = step.value();
    if (value < low - slack || value > high + slack) return;
    const bool has_room = std::all_of(marks.begin(), marks.end(), [&](const Step& mark) {
      return std::abs(transformed(value) - transformed(mark.value())) >= gap;
    });
    if (has_room) marks.push_back(step);
  };
  offer({0, 0});
  const int last =
      static_cast<int>(std::floor(std::log10(std::max(std::abs(low), std::abs(high))) + 1e-9));
  const int first = static_cast<int>(std::floor(std::log10(width))) - 1;
  for (const int digit : {1, 5, 2}) {
    for (int exponent = last; exponent >= first; --exponent) {
      offer({digit, exponent});
      offer({-digit, exponent});
    }
  }
  std::sort(marks.begin(), marks.end(),
            [](const Step& a, const Step& b) { return a.value() < b.value(); });
  return labelled(marks);
}

double round_up(double value) {
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - 1;
  const double digits = value / std::pow(10.0, exponent);
  return decimal(std::ceil(digits * (1 - 1e-12)), exponent);
}

}  // namespace ringweave::detail::inline app
