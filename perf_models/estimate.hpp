// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

namespace ringweave {

/// Predicted seconds with one standard deviation.
struct Estimate {
  double seconds = 0;
  double sigma = 0;

  /// Adds stages that run one after the other; their errors are independent.
  friend Estimate operator+(const Estimate& a, const Estimate& b) {
    return {a.seconds + b.seconds, std::hypot(a.sigma, b.sigma)};
  }
  /// Repeats a stage; its relative error is the same every time.
  friend Estimate operator*(double times, const Estimate& one) {
    return {times * one.seconds, times * one.sigma};
  }
  /// Returns the longer of two stages that run concurrently.
  friend Estimate longer(const Estimate& a, const Estimate& b) {
    return b.seconds > a.seconds ? b : a;
  }
};

}  // namespace ringweave
