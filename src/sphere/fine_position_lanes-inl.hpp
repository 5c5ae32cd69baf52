// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_SPHERE_FINE_POSITION_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_SPHERE_FINE_POSITION_LANES_INL
#undef RINGWEAVE_SPHERE_FINE_POSITION_LANES_INL
#else
#define RINGWEAVE_SPHERE_FINE_POSITION_LANES_INL
#endif

#include <cmath>
#include <cstdint>

#include "hwy/highway.h"
#include "sphere/fine_position.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline sphere::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Tells whether sums of products are fused. Otherwise positions of lanes are not those of single
/// angles, which every rank and machine must find alike.
inline constexpr bool is_fused = HWY_NATIVE_FMA != 0;

/// FinePosition for each lane. The indices are whole numbers.
template <class V>
struct FinePositions {
  V index;
  V offset;
};

/// Computes row_position() for each lane, bit by bit the same where is_fused.
template <class D, class V = hn::Vec<D>>
HWY_INLINE FinePositions<V> row_positions(D d, V theta, std::int64_t n_rows) {
  const V n = hn::Set(d, static_cast<double>(n_rows));
  const V half = hn::Set(d, 0.5);
  const V per_pi = hn::Set(d, fine::per_pi);
  const auto is_south = hn::Gt(theta, hn::Set(d, fine::pi / 2));
  const V from_pole = hn::IfThenElse(is_south, hn::Sub(hn::Set(d, fine::pi), theta), theta);
  const V from_pole_rest = hn::IfThenElseZero(is_south, hn::Set(d, fine::pi_rest));
  // Adding zero keeps compilers from fusing the product into what follows.
  const V high = hn::MulAdd(from_pole, per_pi, hn::Zero(d));
  const V low = hn::MulAdd(
      from_pole_rest, per_pi,
      hn::MulAdd(from_pole, hn::Set(d, fine::per_pi_rest), hn::MulSub(from_pole, per_pi, high)));
  const V nearest = hn::Round(hn::MulSub(high, n, half));
  const V offset = hn::MulAdd(low, n, hn::MulSub(high, n, hn::Add(nearest, half)));
  const V last = hn::Sub(n, hn::Set(d, 1.0));
  return {hn::IfThenElse(is_south, hn::Sub(last, nearest), nearest),
          hn::IfThenElse(is_south, hn::Neg(offset), offset)};
}

/// Computes column_position() for each lane, likewise.
template <class D, class V = hn::Vec<D>>
HWY_INLINE FinePositions<V> column_positions(D d, V phi, std::int64_t n_columns) {
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(hn::Abs(phi), hn::Set(d, fine::far))))) {
    HWY_ALIGN double lanes[hn::MaxLanes(d)];
    hn::Store(phi, d, lanes);
    for (double& lane : lanes) lane = near_turn(lane);
    phi = hn::Load(d, lanes);
  }
  const V n = hn::Set(d, static_cast<double>(n_columns));
  const V per_turn = hn::Set(d, fine::per_pi / 2);
  const V high = hn::MulAdd(phi, per_turn, hn::Zero(d));
  const V low = hn::MulAdd(phi, hn::Set(d, fine::per_pi_rest / 2), hn::MulSub(phi, per_turn, high));
  const V part = hn::Sub(high, hn::Round(high));
  const V nearest = hn::Round(hn::MulAdd(part, n, hn::Zero(d)));
  const V offset = hn::MulAdd(low, n, hn::MulSub(part, n, nearest));
  return {hn::IfThenElse(hn::Lt(nearest, hn::Zero(d)), hn::Add(nearest, n), nearest), offset};
}

}  // namespace ringweave::detail::inline sphere::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
