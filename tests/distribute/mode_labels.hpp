// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "base/mode_view.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::test {

using Value = std::complex<double>;
inline constexpr Value untouched{-7, -7};

/// Identifies a mode, exactly in single precision too: a wrong route shows as a wrong number.
inline Value label(int m, std::int64_t ring, std::int64_t component) {
  return {m + 0.125 * static_cast<double>(component), static_cast<double>(ring)};
}

/// Calls visit(element of the buffer, its label) for every mode of a row.
template <class Visit>
void for_each_mode_of_row(const ModeLayout& layout, const ModeLayout::Row& row,
                          std::int64_t n_components, Visit&& visit) {
  for (const RowSegment& segment : layout.segments(row)) {
    for (std::int64_t i = 0; i < segment.rings.size(); ++i) {
      for (std::int64_t c = 0; c < n_components; ++c) {
        visit((segment.first + i) * n_components + c, label(row.m, segment.rings.begin + i, c));
      }
    }
  }
}

/// The same for every mode of a layout.
template <class Visit>
void for_each_mode(const ModeLayout& layout, std::int64_t n_components, Visit&& visit) {
  for (const ModeLayout::Row& row : layout.rows())
    for_each_mode_of_row(layout, row, n_components, visit);
}

inline HostBuffer<Value> buffer_for(const ModeLayout& layout, std::int64_t n_components) {
  HostBuffer<Value> buffer(layout.size() * n_components);
  std::fill(buffer.begin(), buffer.end(), untouched);
  return buffer;
}

inline std::int64_t count_wrong(const ModeLayout& layout, std::int64_t n_components,
                                const HostBuffer<Value>& buffer) {
  std::int64_t wrong = 0;
  for_each_mode(layout, n_components,
                [&](std::int64_t i, Value expected) { wrong += buffer[i] != expected ? 1 : 0; });
  return wrong;
}

inline ModeView<double> view_of(HostBuffer<Value>& buffer) {
  return {buffer.data(), buffer.size()};
}

}  // namespace ringweave::detail::test
