// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/mode_layout.hpp"

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline sphere {

void ModeLayout::begin_row(int m) { rows_.push_back({m, -1, {}, ssize64(segments_), 0}); }

void ModeLayout::fold_row(std::int64_t into, RingRange rings) {
  rows_.back().fold_into = into;
  rows_.back().fold_rings = rings;
}

void ModeLayout::add_segment(RingRange rings, std::int64_t first) {
  if (rings.empty()) return;
  segments_.push_back({rings, first});
  ++rows_.back().n_segments;
}

}  // namespace ringweave::detail::inline sphere
