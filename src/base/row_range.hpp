// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>

#include "base/host_device.hpp"

namespace ringweave::detail::inline base {

/// Consecutive rows [begin, end), of a ModeLayout or of a plane.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  /// Every row of any layout.
  static constexpr RowRange all() { return {0, std::numeric_limits<std::int64_t>::max()}; }
  std::int64_t size() const { return end > begin ? end - begin : 0; }
  RINGWEAVE_HOST_DEVICE bool contains(std::int64_t row) const { return row >= begin && row < end; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

}  // namespace ringweave::detail::inline base
