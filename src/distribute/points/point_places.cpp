// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_places.hpp"

#include <algorithm>

#include "base/simd/instruction_sets.hpp"
#include "sphere/fine_position.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "distribute/points/point_places.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "sphere/fine_position_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline distribute::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls of_lanes(d, angles) where products and sums are fused, of_one(angle) elsewhere and for the
/// last angles, and stores their results.
template <class OfLanes, class OfOne>
HWY_INLINE void for_each_angle(const double* HWY_RESTRICT angles, std::int64_t stride,
                               std::int64_t n_points, std::int32_t* HWY_RESTRICT numbers,
                               const OfLanes& of_lanes, const OfOne& of_one) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<std::int32_t, decltype(d)> to;
  constexpr auto n_lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  HWY_ALIGN double lanes[std::size_t{n_lanes}];
  std::int64_t i = 0;
  for (; sphere::HWY_NAMESPACE::is_fused && i + n_lanes <= n_points; i += n_lanes) {
    const double* from = angles + i;
    if (stride > 1) {
      for (std::int64_t lane = 0; lane < n_lanes; ++lane) lanes[lane] = angles[(i + lane) * stride];
      from = lanes;
    }
    hn::StoreU(hn::DemoteTo(to, of_lanes(d, hn::LoadU(d, from))), to, numbers + i);
  }
  for (; i < n_points; ++i) numbers[i] = static_cast<std::int32_t>(of_one(angles[i * stride]));
}

/// Computes first_tap() for each lane.
template <class D, class V>
HWY_INLINE V first_tap_lanes(D d, const sphere::HWY_NAMESPACE::FinePositions<V>& position,
                             int n_taps) {
  return hn::Add(position.index, hn::Ceil(hn::Sub(position.offset, hn::Set(d, 0.5 * n_taps))));
}

void rows_of(const double* theta, std::int64_t stride, std::int64_t n_points, std::int64_t n_rows,
             std::int32_t* rows) {
  for_each_angle(
      theta, stride, n_points, rows,
      [&](auto d, auto angle)
          HWY_ATTR { return sphere::HWY_NAMESPACE::row_positions(d, angle, n_rows).index; },
      [&](double angle) { return row_position(angle, n_rows).index; });
}
void first_columns_of(const double* phi, std::int64_t stride, std::int64_t n_points,
                      std::int64_t n_columns, int n_taps, std::int32_t* columns) {
  for_each_angle(
      phi, stride, n_points, columns,
      [&](auto d, auto angle) HWY_ATTR {
        const auto position = sphere::HWY_NAMESPACE::column_positions(d, angle, n_columns);
        const auto first = first_tap_lanes(d, position, n_taps);
        const auto turn = hn::Set(d, static_cast<double>(n_columns));
        return hn::IfThenElse(hn::Lt(first, hn::Zero(d)), hn::Add(first, turn), first);
      },
      [&](double angle) {
        const std::int64_t first = first_tap(column_position(angle, n_columns), n_taps);
        return first < 0 ? first + n_columns : first;
      });
}
void first_taps_of(const double* theta, std::int64_t n_points, std::int64_t n_rows, int n_taps,
                   std::int32_t* first_taps) {
  for_each_angle(
      theta, 1, n_points, first_taps,
      [&](auto d, auto angle) HWY_ATTR {
        return first_tap_lanes(d, sphere::HWY_NAMESPACE::row_positions(d, angle, n_rows), n_taps);
      },
      [&](double angle) { return first_tap(row_position(angle, n_rows), n_taps); });
}

}  // namespace ringweave::detail::inline distribute::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline distribute {
namespace {

HWY_EXPORT(rows_of);
HWY_EXPORT(first_columns_of);
HWY_EXPORT(first_taps_of);

}  // namespace

void find_rows(const double* theta, std::int64_t stride, std::int64_t n_points, std::int64_t n_rows,
               std::int32_t* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(rows_of)(theta, stride, n_points, n_rows, rows);
}
void find_first_columns(const double* phi, std::int64_t stride, std::int64_t n_points,
                        std::int64_t n_columns, int n_taps, std::int32_t* columns) noexcept {
  HWY_DYNAMIC_DISPATCH(first_columns_of)(phi, stride, n_points, n_columns, n_taps, columns);
}
void find_first_taps(const double* theta, std::int64_t n_points, std::int64_t n_rows, int n_taps,
                     std::int32_t* first_taps) noexcept {
  HWY_DYNAMIC_DISPATCH(first_taps_of)(theta, n_points, n_rows, n_taps, first_taps);
}

}  // namespace ringweave::detail::inline distribute
#endif
