// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolve/ring/host/spin_sum.cpp"
#include "convolve/ring/host/spin_sum.hpp"

#include <algorithm>

#include "base/simd/instruction_sets.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, spin_sum::padding>;
using V = hn::Vec<D>;
constexpr std::int64_t n_vector = static_cast<std::int64_t>(hn::MaxLanes(D()));

void place_pixels(const spin_sum::Arc& arc, const RingPairChord& chord, double* sin2_half,
                  double* sin_phi, double* chord_squared) {
  const D d;
  const V cosine = hn::Set(d, arc.cosine);
  const V sine = hn::Set(d, arc.sine);
  for (std::int64_t k = 0; k < arc.count; k += n_vector) {
    const V cosines = hn::LoadU(d, arc.cosines + k);
    const V sines = hn::LoadU(d, arc.sines + k);
    const V c = hn::MulAdd(cosine, cosines, hn::Mul(sine, sines));
    const V s = hn::MulSub(sine, cosines, hn::Mul(cosine, sines));
    const V square = hn::Mul(s, s);
    hn::StoreU(square, d, sin2_half + k);
    hn::StoreU(hn::Mul(hn::Add(s, s), c), d, sin_phi + k);
    hn::StoreU(hn::MulAdd(hn::Set(d, chord.span), square, hn::Set(d, chord.gap)), d,
               chord_squared + k);
  }
}

/// re[k] + i im[k] = re[k] weight (x + i y)^spin
HWY_INLINE void turn_vector(V x, V y, double weight, int spin, double* re, double* im) {
  const D d;
  V power_x = x;
  V power_y = y;
  for (int s = 1; s < spin; ++s) {
    const V next = hn::MulSub(power_x, x, hn::Mul(power_y, y));
    power_y = hn::MulAdd(power_x, y, hn::Mul(power_y, x));
    power_x = next;
  }
  const V value = hn::Mul(hn::Set(d, weight), hn::LoadU(d, re));
  hn::StoreU(hn::Mul(value, power_x), d, re);
  hn::StoreU(hn::Mul(value, power_y), d, im);
}

void turn_values(const RingPairTransport& transport, double weight, int spin,
                 const double* sin2_half, const double* sin_phi, std::int64_t count, double* re,
                 double* im) {
  const D d;
  const V even = hn::Set(d, (transport.cosine + transport.constant) / 2);
  const V cosine = hn::Set(d, transport.cosine);
  const V half_sine = hn::Set(d, -transport.sine / 2);
  for (std::int64_t k = 0; k < count; k += n_vector) {
    const V x = hn::NegMulAdd(cosine, hn::LoadU(d, sin2_half + k), even);
    const V y = hn::Mul(half_sine, hn::LoadU(d, sin_phi + k));
    turn_vector(x, y, weight, spin, re + k, im + k);
  }
}

void turn_conjugate_values(const ConjugateTransport& transport, double weight, int spin,
                           const double* sin2_half, const double* sin_phi, std::int64_t count,
                           double* re, double* im) {
  const D d;
  const double sum = transport.sum * transport.sum;
  const double difference = transport.difference * transport.difference;
  const V even = hn::Set(d, difference);
  const V cosine = hn::Set(d, sum + difference);
  const V span = hn::Set(d, sum - difference);
  const V sine = hn::Set(d, -transport.sum * transport.difference);
  for (std::int64_t k = 0; k < count; k += n_vector) {
    const V square = hn::LoadU(d, sin2_half + k);
    const V length = hn::MulAdd(span, square, even);
    // A pixel at no distance has no direction, and no kernel.
    const V inverse =
        hn::IfThenElseZero(hn::Gt(length, hn::Zero(d)), hn::Div(hn::Set(d, 1), length));
    const V x = hn::Mul(inverse, hn::NegMulAdd(cosine, square, even));
    const V y = hn::Mul(inverse, hn::Mul(sine, hn::LoadU(d, sin_phi + k)));
    turn_vector(x, y, weight, spin, re + k, im + k);
  }
}

HWY_INLINE V read(const double* from) { return hn::LoadU(D(), from); }
HWY_INLINE V read(const float* from) {
  return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), from));
}

/// Sums over consecutive pixels.
template <class T>
HWY_INLINE void add_run(const double* re, const double* im, const T* q, const T* u,
                        std::int64_t count, double& sum_q, double& sum_u) {
  const D d;
  V of_q = hn::Zero(d);
  V of_u = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + n_vector <= count; k += n_vector) {
    const V x = read(q + k);
    const V y = read(u + k);
    const V a = hn::LoadU(d, re + k);
    const V b = hn::LoadU(d, im + k);
    of_q = hn::NegMulAdd(b, y, hn::MulAdd(a, x, of_q));
    of_u = hn::MulAdd(b, x, hn::MulAdd(a, y, of_u));
  }
  if (k > 0) {
    sum_q += hn::GetLane(hn::SumOfLanes(d, of_q));
    sum_u += hn::GetLane(hn::SumOfLanes(d, of_u));
  }
  for (; k < count; ++k) {
    const double x = static_cast<double>(q[k]);
    const double y = static_cast<double>(u[k]);
    sum_q += re[k] * x - im[k] * y;
    sum_u += re[k] * y + im[k] * x;
  }
}

template <class T>
HWY_INLINE void add_rotations(const spin_sum::Products<T>& of, double* sum_q, double* sum_u) {
  std::int64_t first = of.first;
  for (std::int64_t r = 0; r < of.n_rotations; ++r) {
    // Around the ring.
    const std::int64_t n = std::min(of.count, of.n_in - first);
    add_run(of.re, of.im, of.q + first, of.u + first, n, *sum_q, *sum_u);
    if (n < of.count) add_run(of.re + n, of.im + n, of.q, of.u, of.count - n, *sum_q, *sum_u);
    sum_q += of.step_out;
    sum_u += of.step_out;
    first += of.step_in;
    if (first >= of.n_in) first -= of.n_in;
  }
}

void add_double(const spin_sum::Products<double>& products, double* sum_q, double* sum_u) {
  add_rotations(products, sum_q, sum_u);
}
void add_float(const spin_sum::Products<float>& products, double* sum_q, double* sum_u) {
  add_rotations(products, sum_q, sum_u);
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(place_pixels);
HWY_EXPORT(turn_values);
HWY_EXPORT(turn_conjugate_values);
HWY_EXPORT(add_double);
HWY_EXPORT(add_float);

namespace spin_sum {

void place(const Arc& arc, const RingPairChord& chord, double* sin2_half, double* sin_phi,
           double* chord_squared) noexcept {
  HWY_DYNAMIC_DISPATCH(place_pixels)(arc, chord, sin2_half, sin_phi, chord_squared);
}

void turn(const RingPairTransport& transport, double weight, int spin, const double* sin2_half,
          const double* sin_phi, std::int64_t count, double* re, double* im) noexcept {
  HWY_DYNAMIC_DISPATCH(turn_values)
  (transport, weight, spin, sin2_half, sin_phi, count, re, im);
}

void turn_conjugate(const ConjugateTransport& transport, double weight, int spin,
                    const double* sin2_half, const double* sin_phi, std::int64_t count, double* re,
                    double* im) noexcept {
  HWY_DYNAMIC_DISPATCH(turn_conjugate_values)
  (transport, weight, spin, sin2_half, sin_phi, count, re, im);
}

void add(const Products<double>& products, double* sum_q, double* sum_u) noexcept {
  HWY_DYNAMIC_DISPATCH(add_double)(products, sum_q, sum_u);
}

void add(const Products<float>& products, double* sum_q, double* sum_u) noexcept {
  HWY_DYNAMIC_DISPATCH(add_float)(products, sum_q, sum_u);
}

}  // namespace spin_sum
}  // namespace ringweave::detail::inline convolve
#endif
