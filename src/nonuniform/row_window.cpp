// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/row_window.hpp"

#include <algorithm>

#include "distribute/points/point_order.hpp"

namespace ringweave::detail::inline nonuniform {

RowWindow::RowWindow(const FineGrid& grid, std::span<const std::int64_t> rings,
                     std::int64_t n_components, std::int64_t most_rows)
    : rings_(rings),
      n_columns_(grid.n_columns),
      n_components_(n_components),
      n_places_(places_for(most_rows)),
      first_value_(rings.size(), -1),
      values_(size_of(grid, n_components, most_rows)) {}

std::int64_t RowWindow::places_for(std::int64_t most_rows) {
  // With room for another tile, rows are moved to the front for every second tile only.
  return most_rows + PointOrder::tile_rows;
}

void RowWindow::clear(std::int64_t row) noexcept {
  drop_before(rows_.end);
  rows_ = {row, row};
}

void RowWindow::drop_before(std::int64_t row) noexcept {
  for (std::int64_t r = rows_.begin; r < std::min(row, rows_.end); ++r) {
    if (ring_of(r) < 0) continue;
    first_value_[to_size(r)] = -1;
    --n_owned_;
  }
  if (n_owned_ == 0) n_used_ = 0;
  rows_.begin = std::max(rows_.begin, row);
  rows_.end = std::max(rows_.end, row);
}

void RowWindow::place(RingRange fresh) noexcept {
  const auto begin = rings_.begin();
  const std::int64_t n_fresh = fresh.empty()
                                   ? 0
                                   : std::count_if(begin + fresh.begin, begin + fresh.end,
                                                   [](std::int64_t ring) { return ring >= 0; });
  if (n_used_ + n_fresh > n_places_) move_to_front();
  for (std::int64_t row = fresh.begin; row < fresh.end; ++row) {
    if (ring_of(row) >= 0) first_value_[to_size(row)] = n_used_++ * n_columns_;
  }
  n_owned_ += n_fresh;
  rows_.end = std::max(rows_.end, fresh.end);
}

void RowWindow::move_to_front() noexcept {
  const std::int64_t offset = (n_used_ - n_owned_) * n_columns_;
  for (std::int64_t c = 0; c < n_components_; ++c) {
    double* const values = values_.data() + c * component_stride();
    std::copy_n(values + offset, n_owned_ * n_columns_, values);
  }
  for (std::int64_t row = rows_.begin; row < rows_.end; ++row) {
    if (ring_of(row) >= 0) first_value_[to_size(row)] -= offset;
  }
  n_used_ = n_owned_;
}

}  // namespace ringweave::detail::inline nonuniform
