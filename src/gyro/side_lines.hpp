// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/host_device.hpp"
#include "base/row_range.hpp"

namespace ringweave::detail::inline gyro {

/// The sources next to both ends of an axis, and the targets that they reach, as lines along the
/// ends. Lines continue beyond position 0 .. length - 1 by `reach`.
struct SideLines {
  bool is_used = false;
  std::int64_t n = 0;          ///< lines of the plane
  std::int64_t margin = 0;     ///< lines of sources at an end
  std::int64_t targets = 0;    ///< lines of targets at an end
  std::int64_t n_targets = 0;  ///< lines of targets held: those of both ends, each once
  std::int64_t length = 0;
  std::int64_t reach = 0;
  std::int64_t before = 0;  ///< values before position 0
  std::int64_t stride = 0;
  std::int64_t first = 0;  ///< position 0 of the first source in the work of a plane
  RowRange own_targets;    ///< lines of targets that this rank has

  std::int64_t size() const { return is_used ? (2 * margin + n_targets) * stride : 0; }
  /// Returns the place of position 0 of a line in the work of a plane. `end` 0 or 1.
  RINGWEAVE_HOST_DEVICE std::int64_t source(std::int64_t end, std::int64_t p) const {
    return first + (end * margin + p) * stride;
  }
  RINGWEAVE_HOST_DEVICE std::int64_t target_line(std::int64_t line) const {
    return first + (2 * margin + line) * stride;
  }
  RINGWEAVE_HOST_DEVICE std::int64_t target(std::int64_t end, std::int64_t a) const {
    return target_line(end == 0 ? a : n_targets - 1 - a);
  }
  /// The line of the plane that is line `p` counted from an end.
  RINGWEAVE_HOST_DEVICE std::int64_t from_end(std::int64_t end, std::int64_t p) const {
    return end == 0 ? p : n - 1 - p;
  }
  /// The line of the plane that a line of targets is, and back; -1: not held.
  RINGWEAVE_HOST_DEVICE std::int64_t of_target_line(std::int64_t line) const {
    return line < targets ? line : n - n_targets + line;
  }
  /// Returns how many lines of targets come before a line of the plane.
  std::int64_t targets_before(std::int64_t line) const {
    return line <= targets ? line : std::max(targets, line - n + n_targets);
  }
  std::int64_t target_line_of(std::int64_t line) const {
    if (line < targets) return line;
    return line >= n - targets ? line - n + n_targets : -1;
  }
};

}  // namespace ringweave::detail::inline gyro
