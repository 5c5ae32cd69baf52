// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::inline gyro {

/// Values of lines are summed in multiples of this.
constexpr std::int64_t line_block = 32;
/// Values of a line that are summed at once, at most.
constexpr std::int64_t most_values = 4 * line_block;

/// Some lines, and the rows of a table of sides that have their weights, p * n_targets + a.
struct TapLines {
  const SideTable* table = nullptr;
  std::int64_t count = 0;
  std::int64_t first_row = 0;
  std::int64_t rows_apart = 0;
  std::int64_t lines_apart = 0;  ///< in doubles
  std::int64_t reach = 0;        ///< weights of longer offsets are left out
};

/// Adds to each line its share of another one: to[j] += sum over offsets d of factor *
/// weight(d) * (from[j - d] + from[j + d]), offset 0 once, for 0 <= j < n. No allocation.
/// The same bits in whichever calls lines are summed; each instruction set has its own rounding.
/// to  the first line
/// n   a multiple of line_block, <= most_values
void add_line_taps(const TapLines& lines, double factor, const double* from, double* to,
                   std::int64_t n) noexcept;

}  // namespace ringweave::detail::inline gyro
