// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/host/order_sweep.hpp"
#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline legendre {

/// Returns row `row` of a shape in its a_lm.
template <class T>
AlmRow<T> alm_row(const LegendreShape& shape, std::int64_t row, AlmView<T> alm) {
  const int m = shape.alm.order(row);
  return {alm, shape.alm.index(row, m), shape.alm.lmax() - m + 1};
}

/// Finds the modes of row `row` of a shape. No allocation if `found` has the capacity.
template <class T>
void find_modes(const LegendreShape& shape, std::int64_t row, ModePieces<T> modes,
                ModeRow<typename ModePieces<T>::Value>& found) {
  const ModeLayout::Row& layout = shape.rows.rows()[to_size(row)];
  const auto add = [&](const RowSegment& segment, RingRange rings, auto& pieces) {
    if (rings.empty()) return;
    const std::int64_t position = segment.first + rings.begin - segment.rings.begin;
    pieces.push_back({rings, modes.at(position * shape.fields.n_components())});
  };
  found.own.clear();
  found.aliased.clear();
  for (const RowSegment& segment : shape.rows.segments(layout)) {
    add(segment, segment.rings, found.own);
  }
  if (layout.fold_into < 0) return;
  found.alias = shape.fold.alias(layout.m);
  for (const RowSegment& segment :
       shape.rows.segments(shape.rows.rows()[to_size(layout.fold_into)])) {
    add(segment, intersection(segment.rings, layout.fold_rings), found.aliased);
  }
}

}  // namespace ringweave::detail::inline legendre
