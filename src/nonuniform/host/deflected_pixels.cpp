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
  Lanes south;    ///< of the end in the frame at the beginning, as y is to the east
  Lanes cosine;   ///< of the length
  Lanes x, y, z;
  Lanes sine;                       ///< of theta at the end
  Lanes south_x, south_y, south_z;  ///< the southward vector at the beginning, carried to the end
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
  arcs.south = south;
  arcs.cosine = cosine;
  arcs.x = hn::MulAdd(st, cosine, hn::Mul(ct, south));
  arcs.y = hn::Mul(arc_sine, d_phi);
  arcs.z = hn::NegMulAdd(st, south, hn::Mul(ct, cosine));
  arcs.sine = hn::Sqrt(hn::MulAdd(arcs.x, arcs.x, hn::Mul(arcs.y, arcs.y)));
  const Lanes bend = hn::Mul(versine, d_theta);
  const Lanes kept = hn::MulAdd(bend, d_theta, hn::Set(tag, 1.0));
  arcs.south_x = hn::NegMulAdd(st, south, hn::Mul(ct, kept));
  arcs.south_y = hn::Mul(bend, d_phi);
  arcs.south_z = hn::Neg(hn::MulAdd(ct, south, hn::Mul(st, kept)));
  return arcs;
}

/// Returns the angle of (x, y), which must not be (0, 0).
HWY_INLINE Lanes angle_of(Lanes y, Lanes x) {
  const Tag tag;
  const Lanes angle = hn::Atan(tag, hn::Div(y, x));
  const Lanes half = hn::CopySign(hn::Set(tag, std::numbers::pi), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(tag)), hn::Add(angle, half), angle);
}

/// Returns the arc tangent of ratios up to `small`.
constexpr double small = 1.0 / 32;
HWY_INLINE Lanes small_angle_of(Lanes ratio) {
  const Tag tag;
  const Lanes squared = hn::Mul(ratio, ratio);
  Lanes sum = hn::Set(tag, -1.0 / 11);
  for (const double term : {1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3})
    sum = hn::MulAdd(sum, squared, hn::Set(tag, term));
  return hn::MulAdd(hn::Mul(sum, squared), ratio, ratio);
}

/// Colatitudes at the ends of arcs, and angles by which longitudes grow.
struct EndAngles {
  Lanes theta;
  Lanes turn;
};
HWY_INLINE EndAngles angles_of(const Ring& ring, const Arcs& arcs) {
  const Tag tag;
  const Lanes least = hn::Set(tag, small);
  // Both are small for short arcs that do not begin next to a pole. Theta grows by an angle with
  // this sine and cosine, where x is positive.
  const Lanes bend = hn::Div(hn::Mul(arcs.y, arcs.y), hn::Add(arcs.sine, arcs.x));
  const Lanes sine = hn::MulAdd(bend, hn::Set(tag, ring.cos_theta), arcs.south);
  const Lanes cosine = hn::MulAdd(bend, hn::Set(tag, ring.sin_theta), arcs.cosine);
  const auto are_small = hn::And(hn::Lt(hn::Abs(arcs.y), hn::Mul(least, arcs.x)),
                                 hn::Lt(hn::Abs(sine), hn::Mul(least, cosine)));
  const EndAngles near{hn::Add(hn::Set(tag, ring.theta), small_angle_of(hn::Div(sine, cosine))),
                       small_angle_of(hn::Div(arcs.y, arcs.x))};
  if (HWY_LIKELY(hn::AllTrue(tag, are_small))) return near;
  const auto arrives_at_pole = hn::Eq(arcs.sine, hn::Zero(tag));
  return {hn::IfThenElse(are_small, near.theta, angle_of(arcs.sine, arcs.z)),
          hn::IfThenElse(are_small, near.turn,
                         hn::IfThenZeroElse(arrives_at_pole, angle_of(arcs.y, arcs.x)))};
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

/// Calls use(place, lanes that count, result of follow()). Returns whether no arc was longer
/// than follow() can do.
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
    use(i, there, arcs);
  }
  return hn::AllTrue(tag, hn::Le(most, hn::Set(tag, 1.0)));
}

/// Stores where some arcs end.
class Positions {
 public:
  /// phi  may be null: colatitudes only
  Positions(const DeflectedPixels& pixels, double* theta, double* phi)
      : ring_(*pixels.ring),
        first_(static_cast<double>(pixels.first)),
        step_(2 * std::numbers::pi / static_cast<double>(ring_.n_phi)),
        theta_(theta),
        phi_(phi) {}

  HWY_INLINE void store_at(std::int64_t i, std::size_t there, const Arcs& arcs) const {
    const Tag tag;
    const EndAngles angles = angles_of(ring_, arcs);
    store(angles.theta, there, theta_ + i);
    if (phi_ == nullptr) return;
    const Lanes number = hn::Iota(tag, first_ + static_cast<double>(i));
    const Lanes start = hn::MulAdd(hn::Set(tag, step_), number, hn::Set(tag, ring_.phi0));
    store(hn::Add(start, angles.turn), there, phi_ + i);
  }

 private:
  const Ring& ring_;
  double first_;
  double step_;
  double* theta_;
  double* phi_;
};

/// Stores how frames turn along some arcs, against the longitudes that Positions stores.
HWY_INLINE void store_turns(const Arcs& arcs, std::size_t there, double* cos_gamma,
                            double* sin_gamma) {
  const Tag tag;
  const Lanes one = hn::Set(tag, 1.0);
  const Lanes along = hn::MulAdd(arcs.x, arcs.south_x, hn::Mul(arcs.y, arcs.south_y));
  const Lanes sine_squared = hn::Mul(arcs.sine, arcs.sine);
  const Lanes c = hn::NegMulAdd(sine_squared, arcs.south_z, hn::Mul(arcs.z, along));
  const Lanes s = hn::NegMulAdd(arcs.x, arcs.south_y, hn::Mul(arcs.y, arcs.south_x));
  const Lanes modulus = hn::Sqrt(hn::MulAdd(c, c, hn::Mul(s, s)));
  const auto is_pole = hn::Or(hn::Eq(arcs.sine, hn::Zero(tag)), hn::Eq(modulus, hn::Zero(tag)));
  const Lanes scale = hn::Div(one, modulus);
  store(hn::IfThenElse(is_pole, one, hn::Mul(c, scale)), there, cos_gamma);
  store(hn::IfThenZeroElse(is_pole, hn::Mul(s, scale)), there, sin_gamma);
}

bool compute_positions(const DeflectedPixels& pixels, double* theta, double* phi) {
  const Positions positions(pixels, theta, phi);
  return for_each_vector(pixels, [&](std::int64_t i, std::size_t there, const Arcs& arcs) {
    positions.store_at(i, there, arcs);
  });
}

bool compute_rotation(const DeflectedPixels& pixels, double* cos_gamma, double* sin_gamma) {
  return for_each_vector(pixels, [&](std::int64_t i, std::size_t there, const Arcs& arcs) {
    store_turns(arcs, there, cos_gamma + i, sin_gamma + i);
  });
}

bool compute_ends(const DeflectedPixels& pixels, const PixelEnds& ends) {
  const Positions positions(pixels, ends.theta, ends.phi);
  return for_each_vector(pixels, [&](std::int64_t i, std::size_t there, const Arcs& arcs) {
    positions.store_at(i, there, arcs);
    store_turns(arcs, there, ends.cos_gamma + i, ends.sin_gamma + i);
  });
}

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline nonuniform {
namespace {

HWY_EXPORT(compute_positions);
HWY_EXPORT(compute_rotation);
HWY_EXPORT(compute_ends);

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
    if (phi != nullptr) phi[i] = end.phi;
  });
}

void find_rotation(const DeflectedPixels& pixels, double* cos_gamma, double* sin_gamma) noexcept {
  if (HWY_DYNAMIC_DISPATCH(compute_rotation)(pixels, cos_gamma, sin_gamma)) return;
  follow_each(pixels, [&](std::int64_t i, const GeodesicEnd& end) {
    cos_gamma[i] = end.cos_gamma;
    sin_gamma[i] = end.sin_gamma;
  });
}

void find_ends(const DeflectedPixels& pixels, const PixelEnds& ends) noexcept {
  if (HWY_DYNAMIC_DISPATCH(compute_ends)(pixels, ends)) return;
  follow_each(pixels, [&](std::int64_t i, const GeodesicEnd& end) {
    ends.theta[i] = end.theta;
    ends.phi[i] = end.phi;
    ends.cos_gamma[i] = end.cos_gamma;
    ends.sin_gamma[i] = end.sin_gamma;
  });
}

}  // namespace ringweave::detail::inline nonuniform
#endif
