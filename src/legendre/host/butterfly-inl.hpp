// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for every instruction set: the guard is toggled by hwy/foreach_target.h.
#if defined(RINGWEAVE_LEGENDRE_HOST_BUTTERFLY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_BUTTERFLY_INL
#undef RINGWEAVE_LEGENDRE_HOST_BUTTERFLY_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_BUTTERFLY_INL
#endif

#include "legendre/host/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::columns::HWY_NAMESPACE {

/// cos and sin of 2 pi k / Radix for k = 1..Radix / 2.
template <int Radix>
struct Root;
template <>
struct Root<3> {
  static constexpr double cosine[] = {-0.5};
  static constexpr double sine[] = {0.86602540378443864676};
};
template <>
struct Root<5> {
  static constexpr double cosine[] = {0.30901699437494742410, -0.80901699437494742410};
  static constexpr double sine[] = {0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct Root<7> {
  static constexpr double cosine[] = {0.62348980185873353053, -0.22252093395631440429,
                                      -0.90096886790241912624};
  static constexpr double sine[] = {0.78183148246802980871, 0.97492791218182360702,
                                    0.43388373911755812048};
};

template <int Radix>
constexpr double root_cosine(int k) {
  k %= Radix;
  return Root<Radix>::cosine[(k > Radix / 2 ? Radix - k : k) - 1];
}
template <int Radix>
constexpr double root_sine(int k) {
  k %= Radix;
  return k > Radix / 2 ? -Root<Radix>::sine[Radix - k - 1] : Root<Radix>::sine[k - 1];
}

/// x_q *= twiddle_q for q = 1..Radix - 1.
template <int Radix>
HWY_INLINE void multiply(const double* HWY_RESTRICT twiddle, Value* x) {
#pragma GCC unroll 8
  for (int q = 1; q < Radix; ++q) {
    x[q] = product(all(twiddle[2 * q - 2]), all(twiddle[2 * q - 1]), x[q]);
  }
}

/// x_k becomes sum_j x_j exp(-2 pi i j k / Radix); odd radices.
template <int Radix>
HWY_INLINE void butterfly(Value* x) {
  constexpr int half = Radix / 2;
  Value sum[std::size_t{half}];
  Value difference[std::size_t{half}];
  const Value first = x[0];
#pragma GCC unroll 4
  for (int j = 0; j < half; ++j) {
    sum[j] = add(x[j + 1], x[Radix - 1 - j]);
    difference[j] = subtract(x[j + 1], x[Radix - 1 - j]);
    x[0] = add(x[0], sum[j]);
  }
#pragma GCC unroll 4
  for (int k = 1; k <= half; ++k) {
    Value even = first;
    Value odd = scale(all(root_sine<Radix>(k)), difference[0]);
#pragma GCC unroll 4
    for (int j = 1; j <= half; ++j) {
      even = multiply_add(all(root_cosine<Radix>(j * k)), sum[j - 1], even);
      if (j > 1) odd = multiply_add(all(root_sine<Radix>(j * k)), difference[j - 1], odd);
    }
    x[k] = {hn::Add(even.re, odd.im), hn::Sub(even.im, odd.re)};
    x[Radix - k] = {hn::Sub(even.re, odd.im), hn::Add(even.im, odd.re)};
  }
}

template <>
HWY_INLINE void butterfly<2>(Value* x) {
  const Value first = x[0];
  x[0] = add(first, x[1]);
  x[1] = subtract(first, x[1]);
}

template <>
HWY_INLINE void butterfly<4>(Value* x) {
  const Value even_sum = add(x[0], x[2]);
  const Value even_difference = subtract(x[0], x[2]);
  const Value odd_sum = add(x[1], x[3]);
  const Value odd_difference = subtract(x[1], x[3]);
  x[0] = add(even_sum, odd_sum);
  x[2] = subtract(even_sum, odd_sum);
  x[1] = {hn::Add(even_difference.re, odd_difference.im),
          hn::Sub(even_difference.im, odd_difference.re)};
  x[3] = {hn::Sub(even_difference.re, odd_difference.im),
          hn::Add(even_difference.im, odd_difference.re)};
}

}  // namespace ringweave::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
