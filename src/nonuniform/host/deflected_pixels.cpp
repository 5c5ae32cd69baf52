// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/host/deflected_pixels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "base/simd/instruction_sets.hpp"
#include "nonuniform/geodesic.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nonuniform/host/deflected_pixels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::CappedTag<double, 8>;
using Lanes = hn::Vec<Tag>;

/// The vectors follow_geodesic() computes, of several pixels of a ring.
struct Arcs {
  Lanes squared;  ///< length
  Lanes x, y, z;
  Lanes sine;  ///< of theta at the end
  Lanes turn;
};

/// Returns 1 - s/f0 (1 - s/f1 (1 - ...)).
template <std::size_t n>
HWY_INLINE Lanes alternating(Lanes s, const double (&factors)[n]) {
  const Tag tag;
  const Lanes one = hn::Set(tag, 1.0);
  Lanes sum = one;
  for (std::size_t i = n; i-- > 0;)
    sum = hn::NegMulAdd(hn::Mul(s, hn::Set(tag, 1 / factors[i])), sum, one);
  return sum;
}

/// Follows arcs of up to 1 radian: the series are those of arc_factors(), with more terms.
HWY_INLINE Arcs follow(const Ring& ring, Lanes d_theta, Lanes d_phi) {
  static constexpr double sine_factors[] = {6, 20, 42, 72, 110, 156, 210, 272};
  static constexpr double versine_factors[] = {12, 30, 56, 90, 132, 182, 240, 306};
  const Tag tag;
  const Lanes st = hn::Set(tag, ring.sin_theta);
  const Lanes ct = hn::Set(tag, ring.cos_theta);
  const Lanes squared = hn::MulAdd(d_theta, d_theta, hn::Mul(d_phi, d_phi));
  const Lanes arc_sine = alternating(squared, sine_factors);
  const Lanes versine = hn::Mul(hn::Set(tag, -0.5), alternating(squared, versine_factors));
  const Lanes cosine = hn::MulAdd(squared, versine, hn::Set(tag, 1.0));
  const Lanes south = hn::Mul(arc_sine, d_theta);
  Arcs arcs;
  arcs.squared = squared;
  arcs.x = hn::MulAdd(st, cosine, hn::Mul(ct, south));
  arcs.y = hn::Mul(arc_sine, d_phi);
  arcs.z = hn::NegMulAdd(st, south, hn::Mul(ct, cosine));
  arcs.sine = hn::Sqrt(hn::MulAdd(arcs.x, arcs.x, hn::Mul(arcs.y, arcs.y)));
  arcs.turn = hn::MulAdd(ct, arc_sine, hn::Mul(st, hn::Mul(versine, d_theta)));
  return arcs;
}

/// Returns the angle of (x, y), which must not be (0, 0).
HWY_INLINE Lanes angle_of(Lanes y, Lanes x) {
  const Tag tag;
  const Lanes angle = hn::Atan(tag, hn::Div(y, x));
  const Lanes half = hn::CopySign(hn::Set(tag, std::numbers::pi), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(tag)), hn::Add(angle, half), angle);
}

/// Loads so many numbers, and zeros.
HWY_INLINE Lanes load(const double* from, std::size_t there) {
  const Tag tag;
  if (there == hn::Lanes(tag)) return hn::LoadU(tag, from);
  HWY_ALIGN double all[8] = {};
  std::copy_n(from, there, all);
  return hn::Load(tag, all);
}

HWY_INLINE void store(Lanes values, std::size_t there, double* to) {
  const Tag tag;
  if (there == hn::Lanes(tag)) {
    hn::StoreU(values, tag, to);
    return;
  }
  HWY_ALIGN double all[8];
  hn::Store(values, tag, all);
  std::copy_n(all, there, to);
}

/// Calls use(place, lanes that count, what follow() returns, deflections). Returns whether no arc
/// was longer than follow() can do.
template <class Use>
HWY_INLINE bool for_each_vector(const DeflectedPixels& pixels, const Use& use) {
  const Tag tag;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
  Lanes most = hn::Zero(tag);
  for (std::int64_t i = 0; i < pixels.count; i += lanes) {
    const auto there = static_cast<std::size_t>(std::min(lanes, pixels.count - i));
    const Lanes d_theta = load(pixels.d_theta + i, there);
    const Lanes d_phi = load(pixels.d_phi + i, there);
    const Arcs arcs = follow(*pixels.ring, d_theta, d_phi);
    most = hn::Max(most, arcs.squared);
    use(i, there, arcs, d_theta, d_phi);
  }
  return hn::AllTrue(tag, hn::Le(most, hn::Set(tag, 1.0)));
}

bool compute_positions(const DeflectedPixels& pixels, double* theta, double* phi) {
  const Tag tag;
  const Ring& ring = *pixels.ring;
  const Lanes step = hn::Set(tag, 2 * std::numbers::pi / static_cast<double>(ring.n_phi));
  return for_each_vector(
      pixels, [&](std::int64_t i, std::size_t there, const Arcs& arcs, Lanes, Lanes) {
        const Lanes number = hn::Iota(tag, static_cast<double>(pixels.first + i));
        const Lanes start = hn::MulAdd(step, number, hn::Set(tag, ring.phi0));
        const auto arrives_at_pole = hn::Eq(arcs.sine, hn::Zero(tag));
        store(angle_of(arcs.sine, arcs.z), there, theta + i);
        const Lanes turned = angle_of(arcs.y, arcs.x);
        store(hn::Add(start, hn::IfThenZeroElse(arrives_at_pole, turned)), there, phi + i);
      });
}

bool compute_rotation(const DeflectedPixels& pixels, double* cos_gamma, double* sin_gamma) {
  const Tag tag;
  const Lanes st = hn::Set(tag, pixels.ring->sin_theta);
  const Lanes one = hn::Set(tag, 1.0);
  return for_each_vector(pixels, [&](std::int64_t i, std::size_t there, const Arcs& arcs,
                                     Lanes d_theta, Lanes d_phi) {
    const Lanes c = hn::MulAdd(d_theta, arcs.turn, st);
    const Lanes s = hn::Mul(d_phi, arcs.turn);
    const Lanes modulus = hn::Sqrt(hn::MulAdd(c, c, hn::Mul(s, s)));
    const auto is_pole = hn::Or(hn::Eq(arcs.sine, hn::Zero(tag)), hn::Eq(modulus, hn::Zero(tag)));
    const Lanes scale = hn::Div(one, modulus);
    store(hn::IfThenElse(is_pole, one, hn::Mul(c, scale)), there, cos_gamma + i);
    store(hn::IfThenZeroElse(is_pole, hn::Mul(s, scale)), there, sin_gamma + i);
  });
}

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline nonuniform {
namespace {

HWY_EXPORT(compute_positions);
HWY_EXPORT(compute_rotation);

/// Calls use(pixel, end) one pixel after the other, for arcs of any length.
template <class Use>
void follow_each(const DeflectedPixels& pixels, const Use& use) {
  const Ring& ring = *pixels.ring;
  const double step = 2 * std::numbers::pi / static_cast<double>(ring.n_phi);
  for (std::int64_t i = 0; i < pixels.count; ++i) {
    const double phi = ring.phi0 + step * static_cast<double>(pixels.first + i);
    use(i, follow_geodesic({ring.sin_theta, ring.cos_theta, ring.theta, phi},
                           {pixels.d_theta[i], pixels.d_phi[i]}));
  }
}

}  // namespace

void find_positions(const DeflectedPixels& pixels, double* theta, double* phi) noexcept {
  if (HWY_DYNAMIC_DISPATCH(compute_positions)(pixels, theta, phi)) return;
  follow_each(pixels, [&](std::int64_t i, const GeodesicEnd& end) {
    theta[i] = end.theta;
    phi[i] = end.phi;
  });
}

void find_rotation(const DeflectedPixels& pixels, double* cos_gamma, double* sin_gamma) noexcept {
  if (HWY_DYNAMIC_DISPATCH(compute_rotation)(pixels, cos_gamma, sin_gamma)) return;
  follow_each(pixels, [&](std::int64_t i, const GeodesicEnd& end) {
    cos_gamma[i] = end.cos_gamma;
    sin_gamma[i] = end.sin_gamma;
  });
}

}  // namespace ringweave::detail::inline nonuniform
#endif
