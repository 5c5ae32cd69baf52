// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/host/row_sums.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/simd/instruction_sets.hpp"
#include "nonuniform/tap_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nonuniform/host/row_sums.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "nonuniform/host/tap_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

constexpr int most_taps = TapKernel::most_width;

/// Rows of a point that this rank owns, from the north to the south as the taps go, and its
/// columns.
struct PointRows {
  struct Row {
    std::int64_t first_value;
    int tap;
    bool is_beyond_pole;
  };
  std::array<Row, most_taps> rows;
  int n_rows = 0;
  std::int64_t column = 0;
  double theta_offset = 0;
  double phi_offset = 0;
};

/// Finds the rows of a point within `range`.
HWY_INLINE void find_rows(const RowTaps& taps, double theta, double phi, RingRange range,
                          PointRows& point) {
  const TapPlace place = rows_around(taps.grid, theta);
  point.n_rows = 0;
  for (int i = 0; i < taps.theta.width; ++i) {
    const FoldedRow row = folded_row(place.first + i, taps.grid.n_rows);
    if (!range.contains(row.row)) continue;
    const std::int64_t first = taps.first_value[static_cast<std::size_t>(row.row)];
    if (first < 0) continue;
    point.rows[static_cast<std::size_t>(point.n_rows++)] = {first, i, row.is_turned};
  }
  if (point.n_rows == 0) return;
  const TapPlace columns = columns_around(taps.grid, phi);
  point.column = columns.first;
  point.theta_offset = place.offset;
  point.phi_offset = columns.offset;
}

/// The column where a row's taps begin.
HWY_INLINE std::int64_t column_of(const RowTaps& taps, const PointRows& point,
                                  const PointRows::Row& row) {
  if (!row.is_beyond_pole) return point.column;
  const std::int64_t turned = point.column + taps.grid.n_columns / 2;
  return turned < taps.grid.n_columns ? turned : turned - taps.grid.n_columns;
}

/// As many doubles as the taps of a row with zeros up to whole vectors.
template <int n_taps>
struct Lanes {
  using Tag = hn::CappedTag<double, std::size_t{n_taps}>;
  using V = hn::Vec<Tag>;
  static constexpr int size = static_cast<int>(hn::MaxLanes(Tag()));
  static constexpr int count = n_taps / size;
};

template <int half, int n_components>
HWY_INLINE void interpolate_one(const RowTaps& taps, const PointRows& point, const double* rows,
                                std::int64_t row_stride, int first_component,
                                const double* HWY_RESTRICT theta_weights,
                                const double* HWY_RESTRICT phi_weights, double* values,
                                std::int64_t value_stride) {
  using L = Lanes<2 * half>;
  const typename L::Tag d;
  typename L::V sums[std::size_t{n_components}][std::size_t{L::count}];
  for (int c = 0; c < n_components; ++c) {
    for (int v = 0; v < L::count; ++v) sums[c][v] = hn::Zero(d);
  }
  HWY_ALIGN double wrapped[std::size_t{2 * half}] = {};
  for (int i = 0; i < point.n_rows; ++i) {
    const PointRows::Row& row = point.rows[static_cast<std::size_t>(i)];
    const std::int64_t column = column_of(taps, point, row);
    const bool wraps = column + 2 * half > taps.grid.n_columns;
    for (int c = 0; c < n_components; ++c) {
      const double* values_of_row = rows + (first_component + c) * row_stride + row.first_value;
      const double* from = values_of_row + column;
      if (HWY_UNLIKELY(wraps)) {
        for (int j = 0; j < taps.phi.width; ++j)
          wrapped[j] = values_of_row[(column + j) % taps.grid.n_columns];
        from = wrapped;
      }
      double weight = theta_weights[row.tap];
      if (row.is_beyond_pole)
        weight *= taps.beyond_pole[static_cast<std::size_t>(first_component + c)];
      const auto w = hn::Set(d, weight);
#pragma GCC unroll 8
      for (int v = 0; v < L::count; ++v)
        sums[c][v] = hn::MulAdd(w, hn::LoadU(d, from + v * L::size), sums[c][v]);
    }
  }
  for (int c = 0; c < n_components; ++c) {
    auto sum = hn::Mul(sums[c][0], hn::Load(d, phi_weights));
#pragma GCC unroll 8
    for (int v = 1; v < L::count; ++v)
      sum = hn::MulAdd(sums[c][v], hn::Load(d, phi_weights + v * L::size), sum);
    values[(first_component + c) * value_stride] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

template <int theta_half, int half>
void interpolate_with(const RowTaps& taps, const double* rows, std::int64_t row_stride,
                      PointSpan points, double* values, std::int64_t value_stride) {
  const TapLanes<theta_half> theta_lanes(taps.theta);
  const TapLanes<half> phi_lanes(taps.phi);
  HWY_ALIGN double theta_weights[most_taps] = {};
  HWY_ALIGN double phi_weights[most_taps] = {};
  const int n_components = static_cast<int>(taps.beyond_pole.size());
  const RingRange all{0, taps.grid.n_rows};
  PointRows point;
  for (std::int64_t i = 0; i < points.size; ++i) {
    find_rows(taps, points.theta[i], points.phi[i], all, point);
    theta_lanes.compute(point.theta_offset, theta_weights);
    phi_lanes.compute(point.phi_offset, phi_weights);
    int c = 0;
    for (; c + 3 <= n_components; c += 3) {
      interpolate_one<half, 3>(taps, point, rows, row_stride, c, theta_weights, phi_weights,
                               values + i, value_stride);
    }
    if (n_components - c == 2) {
      interpolate_one<half, 2>(taps, point, rows, row_stride, c, theta_weights, phi_weights,
                               values + i, value_stride);
    } else if (n_components - c == 1) {
      interpolate_one<half, 1>(taps, point, rows, row_stride, c, theta_weights, phi_weights,
                               values + i, value_stride);
    }
  }
}

template <int half>
HWY_INLINE void spread_one(const RowTaps& taps, const PointRows& point, double value, int component,
                           const double* HWY_RESTRICT theta_weights,
                           const double* HWY_RESTRICT phi_weights, double* rows) {
  using L = Lanes<2 * half>;
  const typename L::Tag d;
  typename L::V scaled[std::size_t{L::count}];
  const auto v0 = hn::Set(d, value);
#pragma GCC unroll 8
  for (int v = 0; v < L::count; ++v)
    scaled[v] = hn::Mul(v0, hn::Load(d, phi_weights + v * L::size));
  HWY_ALIGN double wrapped[std::size_t{2 * half}] = {};
  for (int i = 0; i < point.n_rows; ++i) {
    const PointRows::Row& row = point.rows[static_cast<std::size_t>(i)];
    const std::int64_t column = column_of(taps, point, row);
    double weight = theta_weights[row.tap];
    if (row.is_beyond_pole) weight *= taps.beyond_pole[static_cast<std::size_t>(component)];
    const auto w = hn::Set(d, weight);
    double* to = rows + row.first_value;
    if (HWY_UNLIKELY(column + 2 * half > taps.grid.n_columns)) {
      for (int j = 0; j < taps.phi.width; ++j) wrapped[j] = to[(column + j) % taps.grid.n_columns];
      for (int v = 0; v < L::count; ++v) {
        double* at = wrapped + v * L::size;
        hn::Store(hn::MulAdd(w, scaled[v], hn::Load(d, at)), d, at);
      }
      for (int j = 0; j < taps.phi.width; ++j) to[(column + j) % taps.grid.n_columns] = wrapped[j];
      continue;
    }
    to += column;
#pragma GCC unroll 8
    for (int v = 0; v < L::count; ++v)
      hn::StoreU(hn::MulAdd(w, scaled[v], hn::LoadU(d, to + v * L::size)), d, to + v * L::size);
  }
}

template <int theta_half, int half>
void spread_with(const RowTaps& taps, PointSpan points, const double* values,
                 std::int64_t value_stride, RingRange range, double* rows,
                 std::int64_t row_stride) {
  const TapLanes<theta_half> theta_lanes(taps.theta);
  const TapLanes<half> phi_lanes(taps.phi);
  HWY_ALIGN double theta_weights[most_taps] = {};
  HWY_ALIGN double phi_weights[most_taps] = {};
  const int n_components = static_cast<int>(taps.beyond_pole.size());
  PointRows point;
  for (std::int64_t i = 0; i < points.size; ++i) {
    find_rows(taps, points.theta[i], points.phi[i], range, point);
    if (point.n_rows == 0) continue;
    theta_lanes.compute(point.theta_offset, theta_weights);
    phi_lanes.compute(point.phi_offset, phi_weights);
    for (int c = 0; c < n_components; ++c) {
      spread_one<half>(taps, point, values[c * value_stride + i], c, theta_weights, phi_weights,
                       rows + c * row_stride);
    }
  }
}

/// Calls work with the halves of the polynomials as constants.
template <class Work>
void with_halves(const RowTaps& taps, const Work& work) {
  const auto with_phi = [&](auto theta_half) {
    taps.phi.half == 4 ? work(theta_half, std::integral_constant<int, 4>())
                       : work(theta_half, std::integral_constant<int, 8>());
  };
  taps.theta.half == 4 ? with_phi(std::integral_constant<int, 4>())
                       : with_phi(std::integral_constant<int, 8>());
}

void interpolate_all(const RowTaps& taps, const double* rows, std::int64_t row_stride,
                     PointSpan points, double* values, std::int64_t value_stride) {
  with_halves(taps, [&](auto theta_half, auto phi_half) {
    interpolate_with<theta_half(), phi_half()>(taps, rows, row_stride, points, values,
                                               value_stride);
  });
}
void spread_all(const RowTaps& taps, PointSpan points, const double* values,
                std::int64_t value_stride, RingRange range, double* rows, std::int64_t row_stride) {
  with_halves(taps, [&](auto theta_half, auto phi_half) {
    spread_with<theta_half(), phi_half()>(taps, points, values, value_stride, range, rows,
                                          row_stride);
  });
}

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline nonuniform {
namespace {

HWY_EXPORT(interpolate_all);
HWY_EXPORT(spread_all);

}  // namespace

void interpolate_points(const RowTaps& taps, const double* rows, std::int64_t row_stride,
                        PointSpan points, double* values, std::int64_t value_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(interpolate_all)(taps, rows, row_stride, points, values, value_stride);
}

void spread_points(const RowTaps& taps, PointSpan points, const double* values,
                   std::int64_t value_stride, RingRange range, double* rows,
                   std::int64_t row_stride) noexcept {
  HWY_DYNAMIC_DISPATCH(spread_all)
  (taps, points, values, value_stride, range, rows, row_stride);
}

}  // namespace ringweave::detail::inline nonuniform
#endif
