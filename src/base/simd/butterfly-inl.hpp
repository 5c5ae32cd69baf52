// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_BASE_SIMD_BUTTERFLY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_BASE_SIMD_BUTTERFLY_INL
#undef RINGWEAVE_BASE_SIMD_BUTTERFLY_INL
#else
#define RINGWEAVE_BASE_SIMD_BUTTERFLY_INL
#endif

#include <cstddef>

#include "base/simd/complex_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

/// Sign of the exponent of a transform, sum_j a_j exp(+-2 pi i j k / R).
enum class Sign { plus, minus };
constexpr Sign opposite(Sign sign) { return sign == Sign::plus ? Sign::minus : Sign::plus; }

/// Returns a +- i b.
template <Sign sign>
HWY_INLINE ComplexLanes add_quarter_turn(ComplexLanes a, ComplexLanes b) {
  return sign == Sign::plus ? add_times_i(a, b) : subtract_times_i(a, b);
}
/// Returns a exp(+-pi i / 4).
template <Sign sign>
HWY_INLINE ComplexLanes eighth_turn(ComplexLanes a) {
  return scaled(add_quarter_turn<sign>(a, a), broadcast(0.70710678118654752440));
}

/// cos and sin of 2 pi k / R for k = 1..R / 2.
template <int R>
struct Roots;
template <>
struct Roots<3> {
  static constexpr double cosines[] = {-0.5};
  static constexpr double sines[] = {0.86602540378443864676};
};
template <>
struct Roots<5> {
  static constexpr double cosines[] = {0.30901699437494742410, -0.80901699437494742410};
  static constexpr double sines[] = {0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct Roots<7> {
  static constexpr double cosines[] = {0.62348980185873353053, -0.22252093395631440429,
                                       -0.90096886790241912624};
  static constexpr double sines[] = {0.78183148246802980871, 0.97492791218182360702,
                                     0.43388373911755812048};
};
template <>
struct Roots<11> {
  static constexpr double cosines[] = {0.84125353283118116886, 0.41541501300188642553,
                                       -0.14231483827328514044, -0.65486073394528506406,
                                       -0.95949297361449738989};
  static constexpr double sines[] = {0.54064081745559758211, 0.90963199535451837141,
                                     0.98982144188093273238, 0.75574957435425828377,
                                     0.28173255684142969771};
};
template <>
struct Roots<13> {
  static constexpr double cosines[] = {0.88545602565320989590,  0.56806474673115580251,
                                       0.12053668025532305335,  -0.35460488704253562597,
                                       -0.74851074817110109863, -0.97094181742605202716};
  static constexpr double sines[] = {0.46472317204376854566, 0.82298386589365639458,
                                     0.99270887409805399280, 0.93501624268541482344,
                                     0.66312265824079520238, 0.23931566428755776715};
};
/// cos and sin of 2 pi k / R for any k > 0 that is not a multiple of R.
template <int R>
constexpr double root_cosine(int k) {
  k %= R;
  return Roots<R>::cosines[(k > R / 2 ? R - k : k) - 1];
}
template <int R>
constexpr double root_sine(int k) {
  k %= R;
  return k > R / 2 ? -Roots<R>::sines[R - k - 1] : Roots<R>::sines[k - 1];
}

HWY_INLINE void butterfly_of_2(ComplexLanes* a) {
  const ComplexLanes first = a[0];
  a[0] = first + a[1];
  a[1] = first - a[1];
}

template <Sign sign>
HWY_INLINE void butterfly_of_4(ComplexLanes* a) {
  const ComplexLanes even = a[0] + a[2];
  const ComplexLanes even_gap = a[0] - a[2];
  const ComplexLanes odd = a[1] + a[3];
  const ComplexLanes odd_gap = a[1] - a[3];
  a[0] = even + odd;
  a[1] = add_quarter_turn<sign>(even_gap, odd_gap);
  a[2] = even - odd;
  a[3] = add_quarter_turn<opposite(sign)>(even_gap, odd_gap);
}

/// Combines the transforms of 4 of the even and of the odd elements into one of 8.
template <Sign sign>
HWY_INLINE void join_to_8(const ComplexLanes* even, const ComplexLanes* odd, ComplexLanes* a) {
  const ComplexLanes first = eighth_turn<sign>(odd[1]);
  const ComplexLanes third = eighth_turn<sign>(odd[3]);
  a[0] = even[0] + odd[0];
  a[4] = even[0] - odd[0];
  a[1] = even[1] + first;
  a[5] = even[1] - first;
  a[2] = add_quarter_turn<sign>(even[2], odd[2]);
  a[6] = add_quarter_turn<opposite(sign)>(even[2], odd[2]);
  a[3] = add_quarter_turn<sign>(even[3], third);
  a[7] = add_quarter_turn<opposite(sign)>(even[3], third);
}

template <Sign sign>
HWY_INLINE void butterfly_of_8(ComplexLanes* a) {
  ComplexLanes even[4] = {a[0], a[2], a[4], a[6]};
  ComplexLanes odd[4] = {a[1], a[3], a[5], a[7]};
  butterfly_of_4<sign>(even);
  butterfly_of_4<sign>(odd);
  join_to_8<sign>(even, odd, a);
}

template <int R, Sign sign>
HWY_INLINE void odd_butterfly(ComplexLanes* a) {
  constexpr int half = R / 2;
  ComplexLanes sum[std::size_t{half}];
  ComplexLanes gap[std::size_t{half}];
  const ComplexLanes first = a[0];
#pragma GCC unroll 8
  for (int j = 0; j < half; ++j) {
    sum[j] = a[j + 1] + a[R - 1 - j];
    gap[j] = a[j + 1] - a[R - 1 - j];
    a[0] = a[0] + sum[j];
  }
#pragma GCC unroll 8
  for (int k = 1; k <= half; ++k) {
    ComplexLanes even = first;
    ComplexLanes odd = scaled(gap[0], broadcast(root_sine<R>(k)));
#pragma GCC unroll 8
    for (int j = 1; j <= half; ++j) {
      even = multiply_add(sum[j - 1], broadcast(root_cosine<R>(j * k)), even);
      if (j > 1) odd = multiply_add(gap[j - 1], broadcast(root_sine<R>(j * k)), odd);
    }
    a[k] = add_quarter_turn<sign>(even, odd);
    a[R - k] = add_quarter_turn<opposite(sign)>(even, odd);
  }
}

/// Replaces a_k by sum_j a_j exp(+-2 pi i j k / R), for R = 2, 3, 4, 5, 7, 8, 11, 13.
template <int R, Sign sign>
HWY_INLINE void butterfly(ComplexLanes* a) {
  if constexpr (R == 2) {
    butterfly_of_2(a);
  } else if constexpr (R == 4) {
    butterfly_of_4<sign>(a);
  } else if constexpr (R == 8) {
    butterfly_of_8<sign>(a);
  } else {
    odd_butterfly<R, sign>(a);
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
