// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/row_window.hpp"

#include <algorithm>

namespace ringweave::detail::inline nonuniform {

std::int64_t row_stride_of(const FineGrid& grid) {
  constexpr std::int64_t line = 8;
  return ((grid.n_columns + line - 1) / line | 1) * line;
}

RowWindow::RowWindow(const FineGrid& grid, std::span<const std::int64_t> rings,
                     std::int64_t n_components)
    : rings_(rings),
      n_columns_(grid.n_columns),
      n_places_(places_of(grid)),
      row_stride_(row_stride_of(grid)),
      first_value_(rings.size(), -1),
      values_(size_of(grid, n_components)) {}

std::int64_t RowWindow::places_of(const FineGrid& grid) {
  return PointOrder::tile_rows + (grid.theta_width + 1) / 2 * 2;
}

void RowWindow::clear(std::int64_t row) noexcept {
  drop_before(rows_.end);
  rows_ = {row, row};
}

void RowWindow::drop_before(std::int64_t row) noexcept {
  const std::int64_t end = std::min(row, rows_.end);
  for (std::int64_t r = rows_.begin; r < end; ++r) first_value_[to_size(r)] = -1;
  rows_.begin = std::max(rows_.begin, end);
  if (rows_.begin == rows_.end && row > rows_.end) rows_ = {row, row};
}

}  // namespace ringweave::detail::inline nonuniform
