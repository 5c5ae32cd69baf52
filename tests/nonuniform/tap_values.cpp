// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_values.hpp"

#include <algorithm>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nonuniform/tap_values.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "nonuniform/host/tap_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

template <int half>
void fill(const TapPolynomials& taps, const double* offsets, std::int64_t n_offsets,
          double* values) {
  const TapLanes<half> lanes(taps);
  lanes.compute(offsets, n_offsets,
                [&](std::int64_t k) { return values + k * taps.padded_width(); });
}

void fill_all(const TapPolynomials& taps, const double* offsets, std::int64_t n_offsets,
              double* values) {
  std::fill_n(values, n_offsets * taps.padded_width(), 0.0);
  if (taps.half == 4) {
    fill<4>(taps, offsets, n_offsets, values);
  } else {
    fill<8>(taps, offsets, n_offsets, values);
  }
}

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline nonuniform {
namespace {

HWY_EXPORT(fill_all);

}  // namespace

void fill_taps(const TapPolynomials& taps, const double* offsets, std::int64_t n_offsets,
               double* values) noexcept {
  HWY_DYNAMIC_DISPATCH(fill_all)(taps, offsets, n_offsets, values);
}

}  // namespace ringweave::detail::inline nonuniform
#endif
