// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// Marks of an axis and their labels.
struct Ticks {
  std::vector<double> places;
  std::vector<std::string> labels;  ///< in the markup of Canvas::markup(); one per place
  int exponent = 0;                 ///< labels are to be multiplied by 10^exponent
};

/// Returns at most `most` (>= 2) marks at multiples of 1, 2 or 5 times a power of ten within [low,
/// high], low < high. Labels of large and small numbers share a power of ten.
Ticks linear_ticks(double low, double high, int most);

/// Returns marks at the powers of ten within [low, high], 0 < low < high, thinned out to `most`;
/// for less than two decades also at 2 and 5 times them. Here and for asinh all labels are decimal
/// numbers, or all have powers of ten.
Ticks logarithmic_ticks(double low, double high, int most);

/// Returns 0 and round numbers of both signs within [low, high] whose places in asinh(value /
/// width) are at least 1/most of the axis apart, powers of ten before others. width > 0.
Ticks asinh_ticks(double low, double high, double width, int most);

/// Returns the smallest number >= value > 0 with two significant digits.
double round_up(double value);

}  // namespace ringweave::detail::inline app
