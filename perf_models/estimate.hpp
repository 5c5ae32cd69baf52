// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

namespace ringweave::detail::inline perf_models {

/// Predicted seconds, and one standard deviation of the prediction's error.
struct Estimate {
  double seconds = 0;
  double sigma = 0;

  /// One after the other; errors of different stages are independent.
  friend Estimate operator+(const Estimate& a, const Estimate& b) {
    return {a.seconds + b.seconds, std::hypot(a.sigma, b.sigma)};
  }
  /// Repeated: the relative error is the same every time.
  friend Estimate operator*(double times, const Estimate& one) {
    return {times * one.seconds, times * one.sigma};
  }
  /// Side by side.
  friend Estimate longer(const Estimate& a, const Estimate& b) {
    return b.seconds > a.seconds ? b : a;
  }
};

}  // namespace ringweave::detail::inline perf_models
