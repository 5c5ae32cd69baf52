// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/host_device.hpp"
#include "sphere/mode_layout.hpp"
#include "sphere/row_position.hpp"

// A ModeLayout by order, as launches on a device read it.
namespace ringweave::detail::inline sphere {

/// Segments of an order; none if it has no row.
struct OrderSegments {
  RowSegment front;  ///< often the only one
  std::int64_t first;
  std::int64_t count;
};

/// Returns the position of a ring's mode, or -1 if the order has none there.
/// segments  of all orders
RINGWEAVE_HOST_DEVICE std::int64_t position_of(const OrderSegments& order,
                                               const RowSegment* segments, std::int64_t ring) {
  const RowSegment front = order.front;
  if (ring >= front.rings.begin && ring < front.rings.end)
    return front.first + ring - front.rings.begin;
  return order.count > 1 ? position_in(segments + order.first, order.count, ring) : -1;
}

/// Appends the segments of a layout, by order.
void list_orders(const ModeLayout& rows, std::vector<OrderSegments>& orders,
                 std::vector<RowSegment>& segments);

}  // namespace ringweave::detail::inline sphere
