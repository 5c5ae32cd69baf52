// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_NONUNIFORM_POINT_PLACES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_NONUNIFORM_POINT_PLACES_INL
#undef RINGWEAVE_NONUNIFORM_POINT_PLACES_INL
#else
#define RINGWEAVE_NONUNIFORM_POINT_PLACES_INL
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "nonuniform/fine_grid.hpp"
#include "sphere/fine_position_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Places of some points: rows_around() and columns_around() of each.
struct PointPlaces {
  static constexpr std::int64_t most = 64;

  HWY_ALIGN std::int64_t row[most];
  HWY_ALIGN std::int64_t column[most];
  HWY_ALIGN double theta_offset[most];
  HWY_ALIGN double phi_offset[most];

  /// Computes those of up to `most` points.
  HWY_INLINE void find(const FineGrid& grid, const double* HWY_RESTRICT theta,
                       const double* HWY_RESTRICT phi, std::int64_t n_points) {
    const hn::CappedTag<double, 8> d;
    constexpr auto n_lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    std::int64_t i = 0;
    for (; sphere::HWY_NAMESPACE::is_fused && i + n_lanes <= n_points; i += n_lanes) {
      const auto rows =
          sphere::HWY_NAMESPACE::row_positions(d, hn::LoadU(d, theta + i), grid.n_rows);
      store(d, rows, grid.theta_width, hn::Zero(d), row + i, theta_offset + i);
      const auto columns =
          sphere::HWY_NAMESPACE::column_positions(d, hn::LoadU(d, phi + i), grid.n_columns);
      const auto n_columns = hn::Set(d, static_cast<double>(grid.n_columns));
      store(d, columns, grid.phi_width, n_columns, column + i, phi_offset + i);
    }
    for (; i < n_points; ++i) {
      const TapPlace rows = rows_around(grid, theta[i]);
      const TapPlace columns = columns_around(grid, phi[i]);
      row[i] = rows.first;
      theta_offset[i] = rows.offset;
      column[i] = columns.first;
      phi_offset[i] = columns.offset;
    }
  }

 private:
  /// Stores place_of(); a negative first tap grows by `turn`.
  template <class D, class V>
  static HWY_INLINE void store(D d, const sphere::HWY_NAMESPACE::FinePositions<V>& position,
                               int width, V turn, std::int64_t* first, double* offset) {
    const hn::RebindToSigned<D> numbers;
    const V start = hn::Sub(position.offset, hn::Set(d, 0.5 * width));
    const V ceiling = hn::Ceil(start);
    const V tap = hn::Add(position.index, ceiling);
    const V wrapped = hn::IfThenElse(hn::Lt(tap, hn::Zero(d)), hn::Add(tap, turn), tap);
    hn::Store(hn::ConvertTo(numbers, wrapped), numbers, first);
    const V part = hn::Sub(ceiling, start);
    hn::Store(hn::Sub(hn::Add(part, part), hn::Set(d, 1.0)), d, offset);
  }
};

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
