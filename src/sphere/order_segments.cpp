// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/order_segments.hpp"

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline sphere {

void list_orders(const ModeLayout& rows, std::vector<OrderSegments>& orders,
                 std::vector<RowSegment>& segments) {
  for (const ModeLayout::Row& row : rows.rows()) {
    const auto of_row = rows.segments(row);
    orders.resize(to_size(row.m), OrderSegments{});
    orders.push_back(
        {of_row.empty() ? RowSegment{} : of_row.front(), ssize64(segments), ssize64(of_row)});
    segments.insert(segments.end(), of_row.begin(), of_row.end());
  }
}

}  // namespace ringweave::detail::inline sphere
