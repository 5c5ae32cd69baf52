// SPDX-License-Identifier: GPL-3.0-or-later
// Included once per instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_FFT_LANE_FFT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_FFT_LANE_FFT_INL
#undef RINGWEAVE_FFT_LANE_FFT_INL
#else
#define RINGWEAVE_FFT_LANE_FFT_INL
#endif

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/simd/butterfly-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

/// Computes one pass of Stockham's sorting FFT of `length` times `batch` elements: `done` is
/// `batch` times the product of the radices before it.
template <int R>
HWY_NOINLINE void pass(const double* in, double* out, const Complex* turns, std::int64_t length,
                       std::int64_t done, std::int64_t batch) {
  const std::int64_t unit = length / R * batch;
  const std::int64_t n_twiddles = unit / done;
  const std::int64_t step = done / batch;
  for (std::int64_t p = 0; p < n_twiddles; ++p) {
    for (std::int64_t q = 0; q < done; ++q) {
      ComplexLanes a[std::size_t{R}];
#pragma GCC unroll 16
      for (std::int64_t k = 0; k < R; ++k) a[k] = load(in + (q + done * p + unit * k) * element);
      butterfly<R, Sign::plus>(a);
      double* to = out + (q + done * R * p) * element;
      store(a[0], to);
#pragma GCC unroll 16
      for (std::int64_t k = 1; k < R; ++k) {
        store(p == 0 ? a[k] : product(broadcast(turns[p * k * step]), a[k]),
              to + done * k * element);
      }
    }
  }
}

/// Computes a pass of any odd radix up to 43 by direct sums.
HWY_NOINLINE inline void odd_pass(const double* in, double* out, const Complex* turns,
                                  std::int64_t length, std::int64_t done, std::int64_t batch,
                                  std::int64_t radix) {
  constexpr std::int64_t most_pairs = 21;
  // Sums computed together, so that each pair is loaded once for all of them.
  constexpr std::int64_t together = 4;
  const std::int64_t unit = length / radix * batch;
  const std::int64_t half = (radix - 1) / 2;
  ComplexLanes sum[most_pairs];
  ComplexLanes gap[most_pairs];
  for (std::int64_t column = 0; column < unit; ++column) {
    const std::int64_t q = column % done;
    const std::int64_t p = column / done;
    const double* from = in + column * element;
    double* to = out + (q + done * radix * p) * element;
    const ComplexLanes zeroth = load(from);
    ComplexLanes first = zeroth;
    for (std::int64_t k = 1; k <= half; ++k) {
      const ComplexLanes a = load(from + unit * k * element);
      const ComplexLanes b = load(from + unit * (radix - k) * element);
      sum[k - 1] = a + b;
      gap[k - 1] = a - b;
      first = first + sum[k - 1];
    }
    store(first, to);
    const auto put = [&](std::int64_t j, ComplexLanes value) {
      store(p == 0 ? value : product(broadcast(turns[p * j * (done / batch)]), value),
            to + done * j * element);
    };
    for (std::int64_t begin = 1; begin <= half; begin += together) {
      ComplexLanes even[together];
      ComplexLanes odd[together];
      std::int64_t step[together];
      std::int64_t at[together] = {};
      for (std::int64_t i = 0; i < together; ++i) {
        even[i] = zeroth;
        odd[i] = zero();
        step[i] = (begin + i <= half ? begin + i : half) * (length / radix);
      }
      for (std::int64_t k = 0; k < half; ++k) {
        for (std::int64_t i = 0; i < together; ++i) {
          at[i] += step[i] - (at[i] + step[i] < length ? 0 : length);
          const ComplexLanes root = broadcast(turns[at[i]]);
          even[i] = multiply_add(sum[k], root.re, even[i]);
          odd[i] = multiply_add(gap[k], root.im, odd[i]);
        }
      }
      for (std::int64_t i = 0; i < together && begin + i <= half; ++i) {
        put(begin + i, add_times_i(even[i], odd[i]));
        put(radix - begin - i, subtract_times_i(even[i], odd[i]));
      }
    }
  }
}

/// Computes out_j = sum_k in_k exp(+2 pi i j k / length) in every lane. The passes alternate
/// between `data` and `other`; returns the one with the result and the other one.
///
/// data, other  [length][batch][re, im][lane]
/// turns        [length], exp(2 pi i k / length)
/// From         Stockham's sorting form of the FFT, e.g. Van Loan (1992), Computational Frameworks
///              for the Fast Fourier Transform, section 1.7
inline std::pair<double*, double*> backward_fft(double* data, double* other, const Complex* turns,
                                                std::int64_t length, std::span<const int> radices,
                                                std::int64_t batch = 1) {
  std::int64_t done = batch;
  for (const int radix : radices) {
    switch (radix) {
      case 2: pass<2>(data, other, turns, length, done, batch); break;
      case 3: pass<3>(data, other, turns, length, done, batch); break;
      case 4: pass<4>(data, other, turns, length, done, batch); break;
      case 5: pass<5>(data, other, turns, length, done, batch); break;
      case 7: pass<7>(data, other, turns, length, done, batch); break;
      case 8: pass<8>(data, other, turns, length, done, batch); break;
      case 11: pass<11>(data, other, turns, length, done, batch); break;
      case 13: pass<13>(data, other, turns, length, done, batch); break;
      default: odd_pass(data, other, turns, length, done, batch, radix); break;
    }
    done *= radix;
    std::swap(data, other);
  }
  return {data, other};
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
