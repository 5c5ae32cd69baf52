// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::inline sphere {

/// Returns the position of a ring in the segments of a row, or -1 if the row has no mode there. No
/// segment is empty.
RINGWEAVE_HOST_DEVICE std::int64_t position_in(const RowSegment* segments, std::int64_t count,
                                               std::int64_t ring) {
  // Find the last segment that begins at or before the ring.
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (segments[middle].rings.begin <= ring) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0 || ring >= segments[low - 1].rings.end) return -1;
  return segments[low - 1].first + ring - segments[low - 1].rings.begin;
}

}  // namespace ringweave::detail::inline sphere
