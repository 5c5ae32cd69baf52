// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline gyro {

/// Lines are summed this many values at a time.
constexpr std::int64_t line_block = 32;

/// Weights of consecutive offsets first, first + 1, ... >= 0; those of an offset count for its
/// negative, too, that of offset 0 once.
struct LineTaps {
  const double* weights = nullptr;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Adds to[j] += sum over offsets d of factor * weight(d) * (from[j - d] + from[j + d]), for 0 <= j
/// < n, a multiple of line_block. No allocation. Each instruction set has its own rounding.
void add_line_taps(const LineTaps& taps, double factor, const double* from, double* to,
                   std::int64_t n) noexcept;

}  // namespace ringweave::detail::inline gyro
