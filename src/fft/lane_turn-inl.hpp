// SPDX-License-Identifier: GPL-3.0-or-later
// Included once per instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_FFT_LANE_TURN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_FFT_LANE_TURN_INL
#undef RINGWEAVE_FFT_LANE_TURN_INL
#else
#define RINGWEAVE_FFT_LANE_TURN_INL
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

// Shuffles are called unqualified, because the one-lane target does not have them; this code is not
// instantiated there.

/// Transposes blocks of two doubles in N / 2 vectors of N lanes.
template <std::size_t N, class Tag, class Vec>
HWY_INLINE void turn_blocks(Tag d, Vec* a) {
  if constexpr (N == 8) {
    const Vec even01 = OddEvenBlocks(SwapAdjacentBlocks(a[1]), a[0]);
    const Vec odd01 = OddEvenBlocks(a[1], SwapAdjacentBlocks(a[0]));
    const Vec even23 = OddEvenBlocks(SwapAdjacentBlocks(a[3]), a[2]);
    const Vec odd23 = OddEvenBlocks(a[3], SwapAdjacentBlocks(a[2]));
    a[0] = ConcatLowerLower(d, even23, even01);
    a[1] = ConcatLowerLower(d, odd23, odd01);
    a[2] = ConcatUpperUpper(d, even23, even01);
    a[3] = ConcatUpperUpper(d, odd23, odd01);
  } else if constexpr (N == 4) {
    const Vec lower = ConcatLowerLower(d, a[1], a[0]);
    a[1] = ConcatUpperUpper(d, a[1], a[0]);
    a[0] = lower;
  }
}

/// Transposes N vectors of N lanes as a square matrix.
template <std::size_t N, class Tag, class Vec>
HWY_INLINE void turn(Tag d, Vec* rows) {
  if constexpr (N > 1) {
    constexpr std::size_t half = N / 2;
    Vec lower[half];
    Vec upper[half];
    for (std::size_t i = 0; i < half; ++i) {
      lower[i] = InterleaveLower(d, rows[2 * i], rows[2 * i + 1]);
      upper[i] = InterleaveUpper(d, rows[2 * i], rows[2 * i + 1]);
    }
    turn_blocks<N>(d, lower);
    turn_blocks<N>(d, upper);
    for (std::size_t i = 0; i < half; ++i) {
      rows[2 * i] = lower[i];
      rows[2 * i + 1] = upper[i];
    }
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
