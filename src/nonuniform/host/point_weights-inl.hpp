// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_NONUNIFORM_POINT_WEIGHTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_NONUNIFORM_POINT_WEIGHTS_INL
#undef RINGWEAVE_NONUNIFORM_POINT_WEIGHTS_INL
#else
#define RINGWEAVE_NONUNIFORM_POINT_WEIGHTS_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "nonuniform/host/point_places-inl.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/host/tap_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

enum class Rows { all, in_range };

/// The places and weights of some points: of all of them, or of those with rows in a range. With an
/// alignment, weights of columns begin at a multiple of it, and are zero before and after the taps.
template <int theta_half, int phi_half, Rows which, int alignment = 1>
class PointWeights {
  static constexpr int n_columns = 2 * phi_half + alignment - alignment % 2;

 public:
  static constexpr std::int64_t most = PointPlaces::most;
  /// Zeros before the weights of rows, and as many after them.
  static constexpr int row_padding = which == Rows::in_range ? 4 : 0;

  PointWeights(const RowTaps& taps, RingRange range)
      : taps_(taps), range_(range), theta_lanes_(taps.theta), phi_lanes_(taps.phi) {}

  /// Computes those of up to `most` points from `first` on.
  HWY_INLINE void find(PointSpan points, std::int64_t first) {
    const std::int64_t n = std::min(most, points.size - first);
    places_.find(taps_.grid, points.theta + first, points.phi + first, n);
    size = n;
    std::int64_t north = taps_.grid.n_rows;
    std::int64_t south = -north;
    for (std::int64_t i = 0; i < n; ++i) {
      north = std::min(north, row(i));
      south = std::max(south, row(i));
    }
    if constexpr (which == Rows::in_range) {
      if (north + taps_.theta.width > range_.begin && south < range_.end) {
        for (std::int64_t i = 0; i < n; ++i) number[i] = first + i;
      } else {
        keep_those_in_range(first, n);
      }
    }
    find_first_values(north, south);
    if constexpr (alignment > 1) {
      const hn::CappedTag<double, 8> d;
      constexpr auto n_lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
      for (std::int64_t i = 0; i < size; ++i) {
        for (std::int64_t j = 0; j < n_columns; j += n_lanes) hn::Store(hn::Zero(d), d, phi[i] + j);
      }
    }
    theta_lanes_.compute(places_.theta_offset, size,
                         [&](std::int64_t i) HWY_ATTR { return theta[i] + row_padding; });
    phi_lanes_.compute(places_.phi_offset, size,
                       [&](std::int64_t i) HWY_ATTR { return phi[i] + shift(i); });
  }

  std::int64_t size = 0;
  std::int64_t number[most];  ///< those kept; filled for Rows::in_range only
  /// The first value of the first row where all rows, or those in the range, follow each other in
  /// memory, none of them is beyond a pole and no column beyond the last; otherwise negative.
  std::int64_t first_value[most];
  HWY_ALIGN double theta[most][std::size_t{2 * theta_half + 2 * row_padding}] = {};
  HWY_ALIGN double phi[most][std::size_t{n_columns}] = {};

  std::int64_t row(std::int64_t i) const { return places_.row[i]; }
  std::int64_t column(std::int64_t i) const { return places_.column[i]; }

  /// The column where the weights of columns begin, with the zeros before them.
  std::int64_t aligned_column(std::int64_t i) const { return column(i) - shift(i); }
  /// Taps on rows in the range.
  std::int64_t begin(std::int64_t i) const {
    return which == Rows::all ? 0 : std::max<std::int64_t>(range_.begin - row(i), 0);
  }
  std::int64_t end(std::int64_t i) const {
    const std::int64_t width = taps_.theta.width;
    return which == Rows::all ? width : std::min<std::int64_t>(range_.end - row(i), width);
  }
  /// Zeros before the weights of columns.
  std::int64_t shift(std::int64_t i) const { return column(i) % alignment; }

 private:
  bool has_row_beyond_pole(std::int64_t row) const {
    return row < 0 || row + taps_.theta.width > taps_.grid.n_rows;
  }

  HWY_INLINE void keep_those_in_range(std::int64_t first, std::int64_t n) {
    size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = places_.row[i];
      if (!has_row_beyond_pole(row) &&
          (row >= range_.end || row + taps_.theta.width <= range_.begin))
        continue;
      number[size] = first + i;
      places_.row[size] = row;
      places_.column[size] = places_.column[i];
      places_.theta_offset[size] = places_.theta_offset[i];
      places_.phi_offset[size] = places_.phi_offset[i];
      ++size;
    }
  }

  /// north, south  the least and the largest first row of all points
  HWY_INLINE void find_first_values(std::int64_t north, std::int64_t south) {
    const std::int64_t stride = taps_.grid.n_columns;
    const std::int64_t last = south + taps_.theta.width - 1;
    const bool are_whole = north >= 0 && last < taps_.grid.n_rows &&
                           (which == Rows::all || (north >= range_.begin && last < range_.end));
    const std::int64_t first = are_whole ? first_of_row(north) : -1;
    if (first < 0 || first_of_row(last) != first + (last - north) * stride) {
      for (std::int64_t i = 0; i < size; ++i) first_value[i] = first_in_sequence(i);
      return;
    }
    // The rows of all points follow each other.
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t first_column = aligned_column(i);
      const std::int64_t value = first + (row(i) - north) * stride + first_column;
      first_value[i] = first_column + n_columns > stride ? -1 : value;
    }
  }
  std::int64_t first_of_row(std::int64_t row) const {
    return taps_.first_value[static_cast<std::size_t>(row)];
  }

  HWY_INLINE std::int64_t first_in_sequence(std::int64_t i) const {
    const std::int64_t first_column = aligned_column(i);
    if (has_row_beyond_pole(row(i)) || first_column + n_columns > taps_.grid.n_columns) return -1;
    const std::int64_t* const rows = taps_.first_value.data() + row(i);
    const std::int64_t first = rows[begin(i)];
    const std::int64_t last = first + (end(i) - 1 - begin(i)) * taps_.grid.n_columns;
    // Rows are in memory as on the sphere, so that none is missing between these.
    return first < 0 || rows[end(i) - 1] != last ? -1 : first + first_column;
  }

  const RowTaps& taps_;
  RingRange range_;
  TapLanes<theta_half> theta_lanes_;
  TapLanes<phi_half> phi_lanes_;
  PointPlaces places_;
};

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
