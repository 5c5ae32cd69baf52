// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set by column_lanes.cpp, after hwy/highway.h.
#if defined(RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL
#undef RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL
#else
#define RINGWEAVE_FFT_HOST_LANE_CONVOLUTION_INL
#endif

#include "fft/host/column_plan.hpp"
#include "fft/host/lane_fft-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::HWY_NAMESPACE {

// A convolution needs no sorted spectrum: decimation in frequency leaves it in the order that
// decimation in time starts from, both in place, and what a pass has cut apart stays in the first
// cache from there until it is put together again.

/// Elements that stay in the first cache.
inline constexpr std::int64_t longest_in_cache = 256;

/// Applies butterflies to n_blocks blocks that follow each other, twiddles after them (cutting
/// apart) or before them (putting together).
template <std::size_t R, bool is_cutting>
HWY_NOINLINE void in_place_pass(const LaneConvolution::Pass& level, double* data,
                                std::int64_t n_blocks) {
  constexpr std::int64_t element = 2 * n_lanes;
  constexpr auto radix = static_cast<std::int64_t>(R);
  const std::int64_t unit = level.length / radix;
  for (std::int64_t block = 0; block < n_blocks; ++block) {
    const Complex* twiddles = level.twiddles;
    for (std::int64_t q = 0; q < unit; ++q) {
      Lanes a[R];
      for (std::int64_t k = 0; k < radix; ++k) {
        a[k] = load(data + (q + unit * k) * element);
        if (!is_cutting && k > 0) a[k] = product(broadcast(twiddles[k - 1]), a[k]);
      }
      butterfly<R>(a, level.roots, 1);
      for (std::int64_t k = 0; k < radix; ++k) {
        if (is_cutting && k > 0) a[k] = product(broadcast(twiddles[k - 1]), a[k]);
        store(a[k], data + (q + unit * k) * element);
      }
      twiddles += radix - 1;
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

/// The first pass of all, radix 8: the second half of the data is zero and not read.
inline void first_pass(const LaneConvolution::Pass& level, double* data) {
  constexpr std::int64_t element = 2 * n_lanes;
  const V root_half = hn::Set(D(), 0.70710678118654752440);
  const std::int64_t unit = level.length / 8;
  const Complex* twiddles = level.twiddles;
  for (std::int64_t q = 0; q < unit; ++q) {
    Lanes a[4];
    for (std::int64_t k = 0; k < 4; ++k) a[k] = load(data + (q + unit * k) * element);
    const Lanes turned_even = times_i(a[2]);
    const Lanes turned_odd = times_i(a[3]);
    const Lanes even[4] = {a[0] + a[2], a[0] + turned_even, a[0] - a[2], a[0] - turned_even};
    Lanes odd[4] = {a[1] + a[3], a[1] + turned_odd, a[1] - a[3], a[1] - turned_odd};
    odd[1] = scaled({hn::Sub(odd[1].re, odd[1].im), hn::Add(odd[1].re, odd[1].im)}, root_half);
    odd[2] = times_i(odd[2]);
    odd[3] =
        scaled({hn::Neg(hn::Add(odd[3].re, odd[3].im)), hn::Sub(odd[3].re, odd[3].im)}, root_half);
    for (std::int64_t k = 0; k < 8; ++k) {
      const Lanes value = k < 4 ? even[k] + odd[k] : even[k - 4] - odd[k - 4];
      store(k == 0 ? value : product(broadcast(twiddles[k - 1]), value),
            data + (q + unit * k) * element);
    }
    twiddles += 7;
  }
}

/// The last butterflies of cutting, factors, conjugates, the first butterflies of putting together.
template <std::size_t R, class Factor>
HWY_NOINLINE void middle(const LaneConvolution::Pass& level, double* data, std::int64_t n,
                         std::int64_t first_factor, const Factor& factor) {
  constexpr std::int64_t element = 2 * n_lanes;
  constexpr auto radix = static_cast<std::int64_t>(R);
  for (std::int64_t i = 0; i < n; i += radix) {
    Lanes a[R];
    for (std::int64_t k = 0; k < radix; ++k) a[k] = load(data + (i + k) * element);
    butterfly<R>(a, level.roots, 1);
    for (std::int64_t k = 0; k < radix; ++k)
      a[k] = conjugate(product(factor(first_factor + i + k), a[k]));
    butterfly<R>(a, level.roots, 1);
    for (std::int64_t k = 0; k < radix; ++k) store(a[k], data + (i + k) * element);
  }
}

template <class Factor>
HWY_INLINE void middle(const LaneConvolution::Pass& level, double* data, std::int64_t n,
                       std::int64_t first_factor, const Factor& factor) {
  switch (level.radix) {
    case 2: middle<2>(level, data, n, first_factor, factor); break;
    case 3: middle<3>(level, data, n, first_factor, factor); break;
    case 4: middle<4>(level, data, n, first_factor, factor); break;
    case 5: middle<5>(level, data, n, first_factor, factor); break;
    default: middle<8>(level, data, n, first_factor, factor); break;
  }
}

/// All passes from `level` on, for one block of its length.
template <class Factor>
void convolve_block(std::span<const LaneConvolution::Pass> passes, std::size_t level, double* data,
                    std::int64_t first_factor, const Factor& factor) {
  constexpr std::int64_t element = 2 * n_lanes;
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
  middle(passes.back(), data, n, first_factor, factor);
  for (std::size_t i = passes.size() - 1; i-- > level;)
    in_place_pass<false>(passes[i], data, n / passes[i].length);
}

/// data_j <- sum_k conj(factor_k sum_i data_i exp(+2 pi i i k / n)) exp(+2 pi i j k / n), i < n /
/// 2: the conjugate of n times the convolution with what the factors are the transform of, in the
/// order of column_lanes::spectrum(). What lies from n / 2 on is not read.
template <class Factor>
inline void convolve(const LaneConvolution& plan, double* data, const Factor& factor) {
  constexpr std::int64_t element = 2 * n_lanes;
  const std::int64_t n = plan.length;
  if (plan.passes.size() == 1) {
    for (std::int64_t i = n / 2; i < n; ++i)
      store({hn::Zero(D()), hn::Zero(D())}, data + i * element);
    convolve_block(plan.passes, 0, data, 0, factor);
    return;
  }
  first_pass(plan.passes[0], data);
  const std::int64_t part = n / 8;
  for (std::int64_t i = 0; i < n; i += part)
    convolve_block(plan.passes, 1, data + i * element, i, factor);
  in_place_pass<false>(plan.passes[0], data, 1);
}

}  // namespace ringweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
