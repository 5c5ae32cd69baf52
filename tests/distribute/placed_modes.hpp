// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/exchange_plan.hpp"
#include "sphere/mode_layout.hpp"

// Which mode lies at which position of a layout.

namespace ringweave::detail::test {

using Mode = std::pair<int, std::int64_t>;  // order, ring
inline constexpr Mode padding{-1, -1};

/// Returns the mode at every position, padding where none lies, of the rows with chosen(row). Fails
/// where two modes share a position.
template <class Chosen>
std::vector<Mode> modes_by_position(const ModeLayout& layout, const Chosen& chosen) {
  std::vector<Mode> modes(to_size(layout.size()), padding);
  for (std::int64_t i = 0; i < ssize64(layout.rows()); ++i) {
    if (!chosen(i)) continue;
    const ModeLayout::Row& row = layout.rows()[to_size(i)];
    std::int64_t last = -1;
    for (const RowSegment& segment : layout.segments(row)) {
      EXPECT_LT(last, segment.rings.begin) << "segments go from north to south";
      last = segment.rings.end - 1;
      for (std::int64_t r = segment.rings.begin; r < segment.rings.end; ++r) {
        Mode& mode = modes.at(to_size(segment.first + r - segment.rings.begin));
        if (mode != padding) ADD_FAILURE() << "position used twice";
        mode = {row.m, r};
      }
    }
  }
  return modes;
}

inline std::vector<Mode> modes_by_position(const ModeLayout& layout) {
  return modes_by_position(layout, [](std::int64_t) { return true; });
}

/// Returns the modes of a block. Fails where the block leaves the layout or holds padding.
inline std::vector<Mode> in_block(const std::vector<Mode>& modes,
                                  const ExchangePlan::Block& block) {
  if (block.first < 0 || block.first + block.count > ssize64(modes)) {
    ADD_FAILURE() << "a block leaves the layout";
    return {};
  }
  const auto begin = modes.begin() + block.first;
  EXPECT_EQ(std::count(begin, begin + block.count, padding), 0);
  return {begin, begin + block.count};
}

}  // namespace ringweave::detail::test
