// SPDX-License-Identifier: GPL-3.0-or-later
// Included once per instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL
#undef RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL
#else
#define RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL
#endif

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/simd/butterfly-inl.hpp"
#include "fft/host/column_plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

// A convolution does not need its spectrum in order: decimation in frequency leaves it in the order
// in which decimation in time starts, both in place, and a block that fits in the L1 cache stays
// there from its first forward to its last backward pass.

/// Elements that stay in the L1 cache.
inline constexpr std::int64_t longest_in_cache = 256;

/// Applies butterflies to n_blocks consecutive blocks, with twiddles after them (cutting) or before
/// them (joining).
template <int R, bool is_cutting>
HWY_NOINLINE void in_place_pass(const LaneConvolution::Pass& level, double* data,
                                std::int64_t n_blocks) {
  const std::int64_t unit = level.length / R;
  for (std::int64_t block = 0; block < n_blocks; ++block) {
    const Complex* twiddles = level.twiddles;
    for (std::int64_t q = 0; q < unit; ++q) {
      ComplexLanes a[std::size_t{R}];
      for (std::int64_t k = 0; k < R; ++k) {
        a[k] = load(data + (q + unit * k) * element);
        if (!is_cutting && k > 0) a[k] = product(broadcast(twiddles[k - 1]), a[k]);
      }
      butterfly<R, Sign::plus>(a);
      for (std::int64_t k = 0; k < R; ++k) {
        if (is_cutting && k > 0) a[k] = product(broadcast(twiddles[k - 1]), a[k]);
        store(a[k], data + (q + unit * k) * element);
      }
      twiddles += R - 1;
    }
    data += level.length * element;
  }
}

template <bool is_cutting>
HWY_INLINE void in_place_pass(const LaneConvolution::Pass& level, double* data,
                              std::int64_t n_blocks) {
  switch (level.radix) {
    case 2: in_place_pass<2, is_cutting>(level, data, n_blocks); break;
    case 3: in_place_pass<3, is_cutting>(level, data, n_blocks); break;
    case 4: in_place_pass<4, is_cutting>(level, data, n_blocks); break;
    case 5: in_place_pass<5, is_cutting>(level, data, n_blocks); break;
    default: in_place_pass<8, is_cutting>(level, data, n_blocks); break;
  }
}

/// First pass, radix 8: the second half of the data is zero and not read.
inline void first_pass(const LaneConvolution::Pass& level, double* data) {
  const std::int64_t unit = level.length / 8;
  const Complex* twiddles = level.twiddles;
  for (std::int64_t q = 0; q < unit; ++q) {
    ComplexLanes a[4];
    for (std::int64_t k = 0; k < 4; ++k) a[k] = load(data + (q + unit * k) * element);
    const ComplexLanes even[4] = {a[0] + a[2], add_times_i(a[0], a[2]), a[0] - a[2],
                                  subtract_times_i(a[0], a[2])};
    const ComplexLanes odd[4] = {a[1] + a[3], add_times_i(a[1], a[3]), a[1] - a[3],
                                 subtract_times_i(a[1], a[3])};
    ComplexLanes all[8];
    join_to_8<Sign::plus>(even, odd, all);
    for (std::int64_t k = 0; k < 8; ++k) {
      store(k == 0 ? all[0] : product(broadcast(twiddles[k - 1]), all[k]),
            data + (q + unit * k) * element);
    }
    twiddles += 7;
  }
}

/// Applies the last butterflies of cutting, factors, conjugation, and the first butterflies of
/// joining.
template <int R, class Factor>
HWY_NOINLINE void middle(double* data, std::int64_t n, std::int64_t first_factor,
                         const Factor& factor) {
  for (std::int64_t i = 0; i < n; i += R) {
    ComplexLanes a[std::size_t{R}];
    for (std::int64_t k = 0; k < R; ++k) a[k] = load(data + (i + k) * element);
    butterfly<R, Sign::plus>(a);
    for (std::int64_t k = 0; k < R; ++k)
      a[k] = conjugate(product(factor(first_factor + i + k), a[k]));
    butterfly<R, Sign::plus>(a);
    for (std::int64_t k = 0; k < R; ++k) store(a[k], data + (i + k) * element);
  }
}

template <class Factor>
HWY_INLINE void middle(int radix, double* data, std::int64_t n, std::int64_t first_factor,
                       const Factor& factor) {
  switch (radix) {
    case 2: middle<2>(data, n, first_factor, factor); break;
    case 3: middle<3>(data, n, first_factor, factor); break;
    case 4: middle<4>(data, n, first_factor, factor); break;
    case 5: middle<5>(data, n, first_factor, factor); break;
    default: middle<8>(data, n, first_factor, factor); break;
  }
}

/// Applies all passes from `level` on to one block of its length.
template <class Factor>
void convolve_block(std::span<const LaneConvolution::Pass> passes, std::size_t level, double* data,
                    std::int64_t first_factor, const Factor& factor) {
  const std::int64_t n = passes[level].length;
  if (n > longest_in_cache && level + 1 < passes.size()) {
    const std::int64_t part = n / passes[level].radix;
    in_place_pass<true>(passes[level], data, 1);
    for (std::int64_t i = 0; i < n; i += part)
      convolve_block(passes, level + 1, data + i * element, first_factor + i, factor);
    in_place_pass<false>(passes[level], data, 1);
    return;
  }
  for (std::size_t i = level; i + 1 < passes.size(); ++i)
    in_place_pass<true>(passes[i], data, n / passes[i].length);
  middle(passes.back().radix, data, n, first_factor, factor);
  for (std::size_t i = passes.size() - 1; i-- > level;)
    in_place_pass<false>(passes[i], data, n / passes[i].length);
}

/// Computes data_j <- sum_k conj(factor_k sum_i data_i exp(+2 pi i i k / n)) exp(+2 pi i j k / n),
/// i < n / 2: the conjugate of n times the convolution with the sequence whose transform the
/// factors are, in the order of column_lanes::spectrum(). Data from n / 2 on is not read.
template <class Factor>
inline void convolve(const LaneConvolution& plan, double* data, const Factor& factor) {
  const std::int64_t n = plan.length;
  if (plan.passes.size() == 1) {
    for (std::int64_t i = n / 2; i < n; ++i) store(zero(), data + i * element);
    convolve_block(plan.passes, 0, data, 0, factor);
    return;
  }
  first_pass(plan.passes[0], data);
  const std::int64_t part = n / 8;
  for (std::int64_t i = 0; i < n; i += part)
    convolve_block(plan.passes, 1, data + i * element, i, factor);
  in_place_pass<false>(plan.passes[0], data, 1);
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
