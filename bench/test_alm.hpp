// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "ringweave/alm.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail {

/// Deterministic a_lm of unit size; the imaginary part of m = 0 and degrees below the largest spin
/// are zero.
template <class T>
void fill(const AlmLayout& layout, int spin, AlmView<T> alm) {
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    const auto a = alm.component(c);
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const double phase = 1e-3 * l * l + 0.7 * m + static_cast<double>(c);
        const double size = l >= spin ? 1 : 0;
        a[layout.index(row, l)] = {static_cast<T>(size * std::cos(phase)),
                                   static_cast<T>(m > 0 ? size * std::sin(phase) : 0.0)};
      }
    }
  }
}

}  // namespace ringweave::detail
