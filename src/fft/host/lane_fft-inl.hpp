// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set by lane_rings.cpp, after hwy/highway.h.
#if defined(RINGWEAVE_FFT_HOST_LANE_FFT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_FFT_HOST_LANE_FFT_INL
#undef RINGWEAVE_FFT_HOST_LANE_FFT_INL
#else
#define RINGWEAVE_FFT_HOST_LANE_FFT_INL
#endif

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Complex = std::complex<double>;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
inline constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

/// One complex number in every lane.
struct Lanes {
  V re;
  V im;
};

HWY_INLINE Lanes load(const double* from) {
  return {hn::Load(D(), from), hn::Load(D(), from + n_lanes)};
}
HWY_INLINE void store(Lanes a, double* to) {
  hn::Store(a.re, D(), to);
  hn::Store(a.im, D(), to + n_lanes);
}
HWY_INLINE Lanes broadcast(Complex a) { return {hn::Set(D(), a.real()), hn::Set(D(), a.imag())}; }
HWY_INLINE Lanes operator+(Lanes a, Lanes b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
HWY_INLINE Lanes operator-(Lanes a, Lanes b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
HWY_INLINE Lanes conjugate(Lanes a) { return {a.re, hn::Neg(a.im)}; }
HWY_INLINE Lanes times_i(Lanes a) { return {hn::Neg(a.im), a.re}; }
HWY_INLINE Lanes scaled(Lanes a, V factor) {
  return {hn::Mul(a.re, factor), hn::Mul(a.im, factor)};
}
/// a b.
HWY_INLINE Lanes product(Lanes a, Lanes b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
/// conj(a) b.
HWY_INLINE Lanes conj_product(Lanes a, Lanes b) {
  return {hn::MulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::NegMulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}

/// a_k <- sum_j a_j exp(+2 pi i j k / R). `turns` holds exp(2 pi i k / h), unit = h / R.
template <std::size_t R>
HWY_INLINE void butterfly(Lanes* a, const Complex* turns, std::int64_t unit) {
  constexpr std::size_t half = (R - 1) / 2;
  Lanes sum[half];
  Lanes gap[half];
  Lanes first = a[0];
  for (std::size_t k = 1; k <= half; ++k) {
    sum[k - 1] = a[k] + a[R - k];
    gap[k - 1] = a[k] - a[R - k];
    first = first + sum[k - 1];
  }
  for (std::size_t j = 1; j <= half; ++j) {
    Lanes even = a[0];
    Lanes odd = {hn::Zero(D()), hn::Zero(D())};
    for (std::size_t k = 1; k <= half; ++k) {
      const Lanes root = broadcast(turns[static_cast<std::int64_t>(j * k % R) * unit]);
      even = {hn::MulAdd(sum[k - 1].re, root.re, even.re),
              hn::MulAdd(sum[k - 1].im, root.re, even.im)};
      odd = {hn::MulAdd(gap[k - 1].re, root.im, odd.re),
             hn::MulAdd(gap[k - 1].im, root.im, odd.im)};
    }
    a[j] = even + times_i(odd);
    a[R - j] = even - times_i(odd);
  }
  a[0] = first;
}
template <>
HWY_INLINE void butterfly<2>(Lanes* a, const Complex* /*turns*/, std::int64_t /*unit*/) {
  const Lanes sum = a[0] + a[1];
  a[1] = a[0] - a[1];
  a[0] = sum;
}
template <>
HWY_INLINE void butterfly<4>(Lanes* a, const Complex* /*turns*/, std::int64_t /*unit*/) {
  const Lanes even = a[0] + a[2];
  const Lanes even_gap = a[0] - a[2];
  const Lanes odd = a[1] + a[3];
  const Lanes odd_gap = times_i(a[1] - a[3]);
  a[0] = even + odd;
  a[1] = even_gap + odd_gap;
  a[2] = even - odd;
  a[3] = even_gap - odd_gap;
}
template <>
HWY_INLINE void butterfly<8>(Lanes* a, const Complex* turns, std::int64_t unit) {
  const V root_half = hn::Set(D(), 0.70710678118654752440);
  Lanes even[4] = {a[0], a[2], a[4], a[6]};
  Lanes odd[4] = {a[1], a[3], a[5], a[7]};
  butterfly<4>(even, turns, unit);
  butterfly<4>(odd, turns, unit);
  odd[1] = scaled({hn::Sub(odd[1].re, odd[1].im), hn::Add(odd[1].re, odd[1].im)}, root_half);
  odd[2] = times_i(odd[2]);
  odd[3] =
      scaled({hn::Neg(hn::Add(odd[3].re, odd[3].im)), hn::Sub(odd[3].re, odd[3].im)}, root_half);
  for (std::int64_t k = 0; k < 4; ++k) {
    a[k] = even[k] + odd[k];
    a[k + 4] = even[k] - odd[k];
  }
}

/// One pass of Stockham's sorting FFT of `length` times `batch` elements: `done` is `batch` times
/// the product of the radices before it.
template <std::size_t R>
HWY_NOINLINE void pass(const double* in, double* out, const Complex* turns, std::int64_t length,
                       std::int64_t done, std::int64_t batch) {
  constexpr std::int64_t element = 2 * n_lanes;
  constexpr auto radix = static_cast<std::int64_t>(R);
  const std::int64_t unit = length / radix * batch;
  const std::int64_t n_twiddles = unit / done;
  const std::int64_t step = done / batch;
  for (std::int64_t p = 0; p < n_twiddles; ++p) {
    for (std::int64_t q = 0; q < done; ++q) {
      Lanes a[R];
      for (std::int64_t k = 0; k < radix; ++k)
        a[k] = load(in + (q + done * p + unit * k) * element);
      butterfly<R>(a, turns, length / radix);
      double* to = out + (q + done * radix * p) * element;
      store(a[0], to);
      for (std::int64_t k = 1; k < radix; ++k) {
        store(p == 0 ? a[k] : product(broadcast(turns[p * k * step]), a[k]),
              to + done * k * element);
      }
    }
  }
}

/// The same for any odd radix up to 43, by sums.
HWY_NOINLINE inline void odd_pass(const double* in, double* out, const Complex* turns,
                                  std::int64_t length, std::int64_t done, std::int64_t batch,
                                  std::int64_t radix) {
  constexpr std::int64_t element = 2 * n_lanes;
  constexpr std::int64_t most_pairs = 21;
  // Sums taken together, so that a pair is loaded once for all of them.
  constexpr std::int64_t together = 4;
  const std::int64_t unit = length / radix * batch;
  const std::int64_t half = (radix - 1) / 2;
  Lanes sum[most_pairs];
  Lanes gap[most_pairs];
  for (std::int64_t column = 0; column < unit; ++column) {
    const std::int64_t q = column % done;
    const std::int64_t p = column / done;
    const double* from = in + column * element;
    double* to = out + (q + done * radix * p) * element;
    const Lanes zeroth = load(from);
    Lanes first = zeroth;
    for (std::int64_t k = 1; k <= half; ++k) {
      const Lanes a = load(from + unit * k * element);
      const Lanes b = load(from + unit * (radix - k) * element);
      sum[k - 1] = a + b;
      gap[k - 1] = a - b;
      first = first + sum[k - 1];
    }
    store(first, to);
    const auto put = [&](std::int64_t j, Lanes value) {
      store(p == 0 ? value : product(broadcast(turns[p * j * (done / batch)]), value),
            to + done * j * element);
    };
    for (std::int64_t begin = 1; begin <= half; begin += together) {
      Lanes even[together];
      Lanes odd[together];
      std::int64_t step[together];
      std::int64_t at[together] = {};
      for (std::int64_t i = 0; i < together; ++i) {
        even[i] = zeroth;
        odd[i] = {hn::Zero(D()), hn::Zero(D())};
        step[i] = (begin + i <= half ? begin + i : half) * (length / radix);
      }
      for (std::int64_t k = 0; k < half; ++k) {
        for (std::int64_t i = 0; i < together; ++i) {
          at[i] += step[i] - (at[i] + step[i] < length ? 0 : length);
          const Lanes root = broadcast(turns[at[i]]);
          even[i] = {hn::MulAdd(sum[k].re, root.re, even[i].re),
                     hn::MulAdd(sum[k].im, root.re, even[i].im)};
          odd[i] = {hn::MulAdd(gap[k].re, root.im, odd[i].re),
                    hn::MulAdd(gap[k].im, root.im, odd[i].im)};
        }
      }
      for (std::int64_t i = 0; i < together && begin + i <= half; ++i) {
        put(begin + i, even[i] + times_i(odd[i]));
        put(radix - begin - i, even[i] - times_i(odd[i]));
      }
    }
  }
}

/// out_j = sum_k in_k exp(+2 pi i j k / length) in every lane. Works in `data` and `other` by
/// turns; returns where the result lies, and where it does not.
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

}  // namespace ringweave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
