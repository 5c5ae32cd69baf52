// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Returns sin(x) for |x| <= pi / 2, to 3e-16 of it: the Taylor series. The device's own sine needs
/// memory in addition to registers for large arguments.
RINGWEAVE_HOST_DEVICE double quadrant_sine(double x) {
  const double square = x * x;
  double sum = 1.0 / 51090942171709440000.0;  // 1 / 21!
  sum = std::fma(sum, -square, 1.0 / 121645100408832000.0);
  sum = std::fma(sum, -square, 1.0 / 355687428096000.0);
  sum = std::fma(sum, -square, 1.0 / 1307674368000.0);
  sum = std::fma(sum, -square, 1.0 / 6227020800.0);
  sum = std::fma(sum, -square, 1.0 / 39916800.0);
  sum = std::fma(sum, -square, 1.0 / 362880.0);
  sum = std::fma(sum, -square, 1.0 / 5040.0);
  sum = std::fma(sum, -square, 1.0 / 120.0);
  sum = std::fma(sum, -square, 1.0 / 6.0);
  return std::fma(-square * sum, x, x);
}

/// Returns cos(x) for |x| <= pi / 2, to 3e-16.
RINGWEAVE_HOST_DEVICE double quadrant_cosine(double x) {
  return quadrant_sine(1.57079632679489661923 - std::fabs(x));
}

}  // namespace ringweave::detail::gpu
