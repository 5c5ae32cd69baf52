// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for every instruction set: the guard is toggled by hwy/foreach_target.h.
#if defined(RINGWEAVE_LEGENDRE_HOST_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_ROWS_INL
#undef RINGWEAVE_LEGENDRE_HOST_ROWS_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_ROWS_INL
#endif

#include "hwy/highway.h"
#include "legendre/host/column_fft.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::columns::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<double, std::size_t{width}>;
using Vec = hn::Vec<Lanes>;
constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(Lanes()));

HWY_INLINE Vec all(double value) { return hn::Set(Lanes(), value); }

/// A complex number of n_lanes columns.
struct Value {
  Vec re;
  Vec im;
};

HWY_INLINE Value load(const double* row) {
  return {hn::Load(Lanes(), row), hn::Load(Lanes(), row + width)};
}
HWY_INLINE void store(Value x, double* row) {
  hn::Store(x.re, Lanes(), row);
  hn::Store(x.im, Lanes(), row + width);
}
HWY_INLINE Value zero() { return {hn::Zero(Lanes()), hn::Zero(Lanes())}; }
HWY_INLINE Value add(Value a, Value b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
HWY_INLINE Value subtract(Value a, Value b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
HWY_INLINE Value scale(Vec factor, Value a) {
  return {hn::Mul(factor, a.re), hn::Mul(factor, a.im)};
}
HWY_INLINE Value times_i(Value a) { return {hn::Neg(a.im), a.re}; }
HWY_INLINE Value product(Vec re, Vec im, Value a) {
  return {hn::NegMulAdd(im, a.im, hn::Mul(re, a.re)), hn::MulAdd(im, a.re, hn::Mul(re, a.im))};
}
/// (re - i im) a.
HWY_INLINE Value conjugate_product(Vec re, Vec im, Value a) {
  return {hn::MulAdd(im, a.im, hn::Mul(re, a.re)), hn::NegMulAdd(im, a.re, hn::Mul(re, a.im))};
}
HWY_INLINE Value multiply_add(Vec factor, Value a, Value sum) {
  return {hn::MulAdd(factor, a.re, sum.re), hn::MulAdd(factor, a.im, sum.im)};
}

}  // namespace ringweave::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
