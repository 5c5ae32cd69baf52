// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/host/row_sums.hpp"

#include <algorithm>
#include <type_traits>

#include "base/simd/instruction_sets.hpp"
#include "distribute/points/point_order.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nonuniform/host/row_sums.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "nonuniform/host/point_weights-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

constexpr std::int64_t block = PointPlaces::most;

/// One by one, the rows of a point in `range` that this rank owns, from the north to the south as
/// the taps go.
struct PointRow {
  std::int64_t first_value;
  std::int64_t column;  ///< where its taps begin
  int tap;
  bool is_beyond_pole;
};
template <class Use>
HWY_INLINE void for_each_row(const RowTaps& taps, std::int64_t first_row, std::int64_t column,
                             RingRange range, const Use& use) {
  for (int i = 0; i < taps.theta.width; ++i) {
    const FoldedRow row = folded_row(first_row + i, taps.grid.n_rows);
    if (!range.contains(row.row)) continue;
    const std::int64_t first = taps.first_value[static_cast<std::size_t>(row.row)];
    if (first < 0) continue;
    std::int64_t start = column + (row.is_turned ? taps.grid.n_columns / 2 : 0);
    if (start >= taps.grid.n_columns) start -= taps.grid.n_columns;
    use(PointRow{first, start, i, row.is_turned});
  }
}

/// Number of doubles of the taps of a row, with zeros up to whole vectors.
template <int n_taps>
struct Lanes {
  using Tag = hn::CappedTag<double, std::size_t{n_taps}>;
  using V = hn::Vec<Tag>;
  static constexpr int size = static_cast<int>(hn::MaxLanes(Tag()));
  static constexpr int count = n_taps / size;
};

/// Sums the lanes of as many vectors as there are lanes: lane i of the result is the sum of the
/// i-th.
template <class D>
HWY_INLINE hn::Vec<D> sums_of_lanes(D d, const double* HWY_RESTRICT vectors) {
  constexpr std::size_t size = hn::MaxLanes(d);
  // Some names are unknown where vectors have one lane, hence no hn::.
  const auto pairs = [&](auto i, auto j) HWY_ATTR {
    const auto a = hn::Load(d, vectors + i * static_cast<int>(size));
    const auto b = hn::Load(d, vectors + j * static_cast<int>(size));
    return hn::Add(InterleaveLower(d, a, b), InterleaveUpper(d, a, b));
  };
  const auto halves = [&](auto a, auto b) HWY_ATTR {
    return hn::Add(ConcatLowerLower(d, b, a), ConcatUpperUpper(d, b, a));
  };
  if constexpr (size == 1) {
    return hn::Load(d, vectors);
  } else if constexpr (size == 2) {
    return pairs(0, 1);
  } else if constexpr (size == 4) {
    return halves(pairs(0, 1), pairs(2, 3));
  } else {
    static_assert(size == 8);
    const auto a = halves(pairs(0, 1), pairs(4, 5));
    const auto b = halves(pairs(2, 3), pairs(6, 7));
    return hn::Add(OddEvenBlocks(b, a), SwapAdjacentBlocks(OddEvenBlocks(a, b)));
  }
}

/// Sums of the rows of n_points points, for n_components components.
template <int n_points, int n_components, int half>
struct RowSums {
  using L = Lanes<2 * half>;
  static constexpr typename L::Tag d{};
  using V = typename L::V;
  V sums[std::size_t{n_points}][std::size_t{n_components}][std::size_t{L::count}];

  HWY_INLINE void clear() {
    for (auto& of_point : sums) {
      for (auto& of_component : of_point) {
        for (V& sum : of_component) sum = hn::Zero(d);
      }
    }
  }
  HWY_INLINE void add(int p, int c, double weight, const double* from) {
    const V w = hn::Set(d, weight);
#pragma GCC unroll 8
    for (int v = 0; v < L::count; ++v)
      sums[p][c][v] = hn::MulAdd(w, hn::LoadU(d, from + v * L::size), sums[p][c][v]);
  }
  /// Stores the products with the weights of columns, summed over vectors.
  HWY_INLINE void store(int p, int c, const double* HWY_RESTRICT weights,
                        double* HWY_RESTRICT to) const {
    V sum = hn::Mul(sums[p][c][0], hn::Load(d, weights));
#pragma GCC unroll 8
    for (int v = 1; v < L::count; ++v)
      sum = hn::MulAdd(sums[p][c][v], hn::Load(d, weights + v * L::size), sum);
    hn::Store(sum, d, to);
  }
};

/// Interpolates n_components components from `component` on.
template <int n_components, int theta_half, int half>
HWY_INLINE void interpolate_components(const RowTaps& taps,
                                       const PointWeights<theta_half, half, Rows::all>& points,
                                       int component, const double* rows, std::int64_t row_stride,
                                       double* values, std::int64_t value_stride) {
  using L = Lanes<2 * half>;
  const typename L::Tag d;
  const std::int64_t stride = taps.grid.n_columns;
  const int width = taps.theta.width;
  HWY_ALIGN double lane_sums[std::size_t{n_components}][block][std::size_t{L::size}];
  const auto sum_in_sequence = [&](auto count, std::int64_t p) HWY_ATTR {
    constexpr int n = count();
    RowSums<n, n_components, half> sums;
    sums.clear();
    const double* from[std::size_t{n}];
    for (int k = 0; k < n; ++k) from[k] = rows + points.first_value[p + k];
    for (int i = 0; i < width; ++i) {
#pragma GCC unroll 4
      for (int k = 0; k < n; ++k) {
#pragma GCC unroll 3
        for (int c = 0; c < n_components; ++c)
          sums.add(k, c, points.theta[p + k][i], from[k] + c * row_stride);
        from[k] += stride;
      }
    }
#pragma GCC unroll 4
    for (int k = 0; k < n; ++k) {
#pragma GCC unroll 3
      for (int c = 0; c < n_components; ++c)
        sums.store(k, c, points.phi[p + k], lane_sums[c][p + k]);
    }
  };
  const auto sum_row_by_row = [&](std::int64_t p) HWY_ATTR {
    RowSums<1, n_components, half> sums;
    sums.clear();
    HWY_ALIGN double around[std::size_t{2 * half}] = {};
    const RingRange all{0, taps.grid.n_rows};
    for_each_row(taps, points.row(p), points.column(p), all, [&](const PointRow& row) HWY_ATTR {
      for (int c = 0; c < n_components; ++c) {
        const double* const of_row = rows + c * row_stride + row.first_value;
        const double* from = of_row + row.column;
        if (row.column + 2 * half > stride) {
          std::int64_t column = row.column;
          for (int j = 0; j < taps.phi.width; ++j) {
            around[j] = of_row[column];
            if (++column == stride) column = 0;
          }
          from = around;
        }
        const double sign =
            row.is_beyond_pole ? taps.beyond_pole[static_cast<std::size_t>(component + c)] : 1.0;
        sums.add(0, c, sign * points.theta[p][row.tap], from);
      }
    });
    for (int c = 0; c < n_components; ++c) sums.store(0, c, points.phi[p], lane_sums[c][p]);
  };
  // Several at a time: one waits for its sums.
  constexpr int n_together = L::size == 8 ? 2 : 1;
  std::int64_t p = 0;
  while (p < points.size) {
    int n = 0;
    while (n < n_together && p + n < points.size && points.first_value[p + n] >= 0) ++n;
    if (n == n_together) {
      sum_in_sequence(std::integral_constant<int, n_together>(), p);
      p += n_together;
    } else if (n > 0) {
      sum_in_sequence(std::integral_constant<int, 1>(), p++);
    } else {
      sum_row_by_row(p++);
    }
  }
  for (int c = 0; c < n_components; ++c) {
    double* const to = values + c * value_stride;
    p = 0;
    for (; p + L::size <= points.size; p += L::size)
      hn::StoreU(sums_of_lanes(d, lane_sums[c][p]), d, to + p);
    if (p == points.size) continue;
    HWY_ALIGN double last[std::size_t{L::size}];
    std::fill_n(lane_sums[c][points.size], (p + L::size - points.size) * L::size, 0.0);
    hn::Store(sums_of_lanes(d, lane_sums[c][p]), d, last);
    std::copy_n(last, points.size - p, to + p);
  }
}

template <int theta_half, int half>
void interpolate_with(const RowTaps& taps, const double* rows, std::int64_t row_stride,
                      PointSpan points, double* values, std::int64_t value_stride) {
  PointWeights<theta_half, half, Rows::all> weights(taps, {0, taps.grid.n_rows});
  const int n_components = static_cast<int>(taps.beyond_pole.size());
  for (std::int64_t first = 0; first < points.size; first += block) {
    weights.find(points, first);
    int c = 0;
    const auto next = [&](auto count) HWY_ATTR {
      interpolate_components<count()>(taps, weights, c, rows + c * row_stride, row_stride,
                                      values + c * value_stride + first, value_stride);
      c += count();
    };
    while (c + 3 <= n_components) next(std::integral_constant<int, 3>());
    if (c + 2 == n_components) next(std::integral_constant<int, 2>());
    if (c + 1 == n_components) next(std::integral_constant<int, 1>());
  }
}

/// Columns whose sums are kept in vectors while points are added. Points are sorted so that several
/// one after the other have the same ones.
constexpr int spread_alignment = static_cast<int>(PointOrder::group_columns);

/// Spreads values of points, one component or several.
template <int theta_half, int half>
class PointSpread {
  using Points = PointWeights<theta_half, half, Rows::in_range, spread_alignment>;
  using L = Lanes<2 * half>;
  using V = typename L::V;
  static constexpr typename L::Tag d{};
  static constexpr int n_vectors = L::count + spread_alignment / L::size;

 public:
  PointSpread(const RowTaps& taps, const double* values, std::int64_t value_stride, RingRange range,
              double* rows, std::int64_t row_stride)
      : taps_(taps),
        values_(values),
        value_stride_(value_stride),
        range_(range),
        rows_(rows),
        row_stride_(row_stride) {}

  HWY_INLINE void add(const Points& points) const {
    for (std::int64_t p = 0; p < points.size;) {
      if (HWY_UNLIKELY(points.first_value[p] < 0)) {
        for_each_component([&](const double* values, double* rows, double beyond_pole)
                               HWY_ATTR { add_row_by_row(points, p, values, rows, beyond_pole); });
        ++p;
        continue;
      }
      std::int64_t end = p + 1;
      while (end < points.size && end < p + 4 && can_be_together(points, p, end)) ++end;
      switch (end - p) {
        case 1: add_together<1>(points, p); break;
        case 2: add_together<2>(points, p); break;
        case 3: add_together<3>(points, p); break;
        default: add_together<4>(points, p); break;
      }
      p = end;
    }
  }

 private:
  template <class Add>
  HWY_INLINE void for_each_component(const Add& add) const {
    for (std::int64_t c = 0; c < static_cast<std::int64_t>(taps_.beyond_pole.size()); ++c)
      add(values_ + c * value_stride_, rows_ + c * row_stride_,
          taps_.beyond_pole[static_cast<std::size_t>(c)]);
  }

  /// Returns whether a point has the same columns as another before it, and starts further south by
  /// no more rows than there are zeros around its weights, with no row between those of both.
  HWY_INLINE bool can_be_together(const Points& points, std::int64_t first,
                                  std::int64_t other) const {
    const std::int64_t rows = points.row(other) - points.row(first);
    return points.first_value[other] >= 0 && rows >= 0 &&
           rows <= std::min<std::int64_t>(Points::row_padding, taps_.theta.width) &&
           points.aligned_column(other) == points.aligned_column(first);
  }

  /// Adds n points that can be together, one after the other on each row.
  template <int n>
  HWY_INLINE void add_together(const Points& points, std::int64_t first) const {
    // The rows of all, counted as those of the first point.
    const double* theta[std::size_t{n}];
    const std::int64_t begin = points.begin(first);
    std::int64_t end = 0;
#pragma GCC unroll 4
    for (int k = 0; k < n; ++k) {
      const std::int64_t south = points.row(first + k) - points.row(first);
      theta[k] = points.theta[first + k] + Points::row_padding - south;
      end = std::max(end, points.end(first + k) + south);
    }
    for_each_component([&](const double* values, double* rows, double) HWY_ATTR {
      V scaled[std::size_t{n}][std::size_t{n_vectors}];
#pragma GCC unroll 4
      for (int k = 0; k < n; ++k) {
        const V value = hn::Set(d, values[points.number[first + k]]);
#pragma GCC unroll 24
        for (int v = 0; v < n_vectors; ++v)
          scaled[k][v] = hn::Mul(value, hn::Load(d, points.phi[first + k] + v * L::size));
      }
      double* to = rows + points.first_value[first];
      for (std::int64_t i = begin; i < end; ++i) {
        V weights[std::size_t{n}];
#pragma GCC unroll 4
        for (int k = 0; k < n; ++k) weights[k] = hn::Set(d, theta[k][i]);
#pragma GCC unroll 24
        for (int v = 0; v < n_vectors; ++v) {
          double* const at = to + v * L::size;
          V sum = hn::LoadU(d, at);
#pragma GCC unroll 4
          for (int k = 0; k < n; ++k) sum = hn::MulAdd(weights[k], scaled[k][v], sum);
          hn::StoreU(sum, d, at);
        }
        to += taps_.grid.n_columns;
      }
    });
  }

  HWY_INLINE void add_row_by_row(const Points& points, std::int64_t p, const double* values,
                                 double* rows, double beyond_pole) const {
    const V value = hn::Set(d, values[points.number[p]]);
    const double* const phi = points.phi[p] + points.shift(p);
    const double* const theta = points.theta[p] + Points::row_padding;
    HWY_ALIGN double scaled[std::size_t{L::count}][std::size_t{L::size}];
    for (int v = 0; v < L::count; ++v)
      hn::Store(hn::Mul(value, hn::LoadU(d, phi + v * L::size)), d, scaled[v]);
    const std::int64_t stride = taps_.grid.n_columns;
    for_each_row(taps_, points.row(p), points.column(p), range_, [&](const PointRow& row) HWY_ATTR {
      const double weight = (row.is_beyond_pole ? beyond_pole : 1.0) * theta[row.tap];
      double* const of_row = rows + row.first_value;
      if (row.column + 2 * half <= stride) {
        const V w = hn::Set(d, weight);
        for (int v = 0; v < L::count; ++v) {
          double* const at = of_row + row.column + v * L::size;
          hn::StoreU(hn::MulAdd(w, hn::Load(d, scaled[v]), hn::LoadU(d, at)), d, at);
        }
        return;
      }
      const hn::CappedTag<double, 1> one;
      const auto w = hn::Set(one, weight);
      std::int64_t column = row.column;
      for (int j = 0; j < taps_.phi.width; ++j) {
        double& to = of_row[column];
        const auto of_tap = hn::Set(one, scaled[j / L::size][j % L::size]);
        to = hn::GetLane(hn::MulAdd(w, of_tap, hn::Set(one, to)));
        if (++column == stride) column = 0;
      }
    });
  }

  const RowTaps& taps_;
  const double* values_;
  std::int64_t value_stride_;
  RingRange range_;
  double* rows_;
  std::int64_t row_stride_;
};

template <int theta_half, int half>
void spread_with(const RowTaps& taps, PointSpan points, const double* values,
                 std::int64_t value_stride, RingRange range, double* rows,
                 std::int64_t row_stride) {
  PointWeights<theta_half, half, Rows::in_range, spread_alignment> weights(taps, range);
  const PointSpread<theta_half, half> spread(taps, values, value_stride, range, rows, row_stride);
  for (std::int64_t first = 0; first < points.size; first += block) {
    weights.find(points, first);
    spread.add(weights);
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
