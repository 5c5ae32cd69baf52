// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline legendre {

/// Groups of rows that must be processed in order: a row, then the rows that fold into it,
/// ascending in m, so that sums do not depend on the thread count. Groups are sorted by work,
/// largest first.
class FoldGroups {
 public:
  /// Groups the rows of the shape. Error  UsageError when they are not its orders, or fold into a
  /// row that cannot receive them.
  explicit FoldGroups(const LegendreShape& shape);

  std::int64_t size() const { return static_cast<std::int64_t>(begin_.size()) - 1; }
  std::span<const std::int64_t> rows(std::int64_t group) const {
    const auto i = static_cast<std::size_t>(group);
    return std::span(rows_).subspan(static_cast<std::size_t>(begin_[i]),
                                    static_cast<std::size_t>(begin_[i + 1] - begin_[i]));
  }

 private:
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> begin_;
};

}  // namespace ringweave::detail::inline legendre
