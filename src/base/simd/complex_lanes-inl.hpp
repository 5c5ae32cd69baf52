// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_BASE_SIMD_COMPLEX_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_BASE_SIMD_COMPLEX_LANES_INL
#undef RINGWEAVE_BASE_SIMD_COMPLEX_LANES_INL
#else
#define RINGWEAVE_BASE_SIMD_COMPLEX_LANES_INL
#endif

#include <complex>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Complex = std::complex<double>;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
inline constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
inline constexpr std::int64_t element = 2 * n_lanes;  ///< doubles of [re, im][lane]

/// One complex number per lane.
struct ComplexLanes {
  V re;
  V im;
};

/// Loads real parts at `from`, imaginary parts `apart` doubles further on; both aligned.
HWY_INLINE ComplexLanes load(const double* from, std::int64_t apart = n_lanes) {
  return {hn::Load(D(), from), hn::Load(D(), from + apart)};
}
HWY_INLINE void store(ComplexLanes a, double* to, std::int64_t apart = n_lanes) {
  hn::Store(a.re, D(), to);
  hn::Store(a.im, D(), to + apart);
}
/// Loads interleaved complex numbers, unaligned.
HWY_INLINE ComplexLanes load_interleaved(const Complex* from) {
  ComplexLanes a;
  hn::LoadInterleaved2(D(), reinterpret_cast<const double*>(from), a.re, a.im);
  return a;
}
HWY_INLINE void store_interleaved(ComplexLanes a, Complex* to) {
  hn::StoreInterleaved2(a.re, a.im, D(), reinterpret_cast<double*>(to));
}
HWY_INLINE ComplexLanes zero() { return {hn::Zero(D()), hn::Zero(D())}; }
HWY_INLINE V broadcast(double a) { return hn::Set(D(), a); }
HWY_INLINE ComplexLanes broadcast(Complex a) { return {broadcast(a.real()), broadcast(a.imag())}; }

HWY_INLINE ComplexLanes operator+(ComplexLanes a, ComplexLanes b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE ComplexLanes operator-(ComplexLanes a, ComplexLanes b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
HWY_INLINE ComplexLanes conjugate(ComplexLanes a) { return {a.re, hn::Neg(a.im)}; }
HWY_INLINE ComplexLanes times_i(ComplexLanes a) { return {hn::Neg(a.im), a.re}; }
HWY_INLINE ComplexLanes scaled(ComplexLanes a, V factor) {
  return {hn::Mul(a.re, factor), hn::Mul(a.im, factor)};
}
/// Returns a b.
HWY_INLINE ComplexLanes product(ComplexLanes a, ComplexLanes b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
/// Returns conj(a) b.
HWY_INLINE ComplexLanes conj_product(ComplexLanes a, ComplexLanes b) {
  return {hn::MulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::NegMulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}
/// Returns a factor + sum.
HWY_INLINE ComplexLanes multiply_add(ComplexLanes a, V factor, ComplexLanes sum) {
  return {hn::MulAdd(a.re, factor, sum.re), hn::MulAdd(a.im, factor, sum.im)};
}
/// Returns a + i b.
HWY_INLINE ComplexLanes add_times_i(ComplexLanes a, ComplexLanes b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}
/// Returns a - i b.
HWY_INLINE ComplexLanes subtract_times_i(ComplexLanes a, ComplexLanes b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
