// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/views.hpp"

// Files of a_lm with a row for each (l, m), by l, then m.

namespace ringweave::detail::inline io {

/// Returns the number of rows before degree l in a file in l-major order, with orders up to mmax.
constexpr std::int64_t rows_before(std::int64_t l, std::int64_t mmax) {
  const std::int64_t full = std::min(l, mmax + 1);
  return full * (full + 1) / 2 + (l - full) * (mmax + 1);
}

/// Degrees [begin, end) of one component as rows of the file.
struct DegreeRows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
};

/// Returns as many degrees from `begin` on as fit in a block, at least one.
inline DegreeRows next_block(std::int64_t begin, std::int64_t lmax, std::int64_t mmax) {
  constexpr std::int64_t rows_at_once = std::int64_t{1} << 19;
  DegreeRows block{begin, begin + 1, rows_before(begin, mmax), 0};
  while (block.end <= lmax && rows_before(block.end + 1, mmax) - block.first_row <= rows_at_once)
    ++block.end;
  block.n_rows = rows_before(block.end, mmax) - block.first_row;
  return block;
}

/// Returns this rank's coefficients of the block, zero elsewhere: real parts, then imaginary parts.
template <class T>
void fill_block(const DegreeRows& block, const AlmLayout& layout, View<const std::complex<T>> alm,
                std::vector<double>& values) {
  values.assign(to_size(2 * block.n_rows), 0.0);
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const std::int64_t m = layout.order(row);
    for (std::int64_t l = std::max(block.begin, m); l < block.end; ++l) {
      const std::complex<T> value = alm[layout.index(row, static_cast<int>(l))];
      const std::int64_t at = rows_before(l, layout.mmax()) + m - block.first_row;
      values[to_size(at)] = static_cast<double>(value.real());
      values[to_size(at + block.n_rows)] = static_cast<double>(value.imag());
    }
  }
}

}  // namespace ringweave::detail::inline io
