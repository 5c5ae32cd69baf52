// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/theta_columns.hpp"

#include <algorithm>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/theta_columns.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "base/simd/complex_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::columns::HWY_NAMESPACE {

using namespace ringweave::detail::HWY_NAMESPACE;

enum class Direction { transform, transpose };

HWY_INLINE V lanes_of(const double* values, std::int64_t lane) {
  return hn::LoadU(D(), values + lane);
}

/// Returns factor (root + parity conj(root)) x.
HWY_INLINE ComplexLanes own_partner(Complex root, double factor, V parity, ComplexLanes x) {
  const V one = broadcast(1.0);
  return product(x, {hn::Mul(broadcast(factor * root.real()), hn::Add(one, parity)),
                     hn::Mul(broadcast(factor * root.imag()), hn::Sub(one, parity))});
}

/// Transforms a half transform into coefficients, or applies the transpose, in place.
template <Direction To>
HWY_INLINE void turn_coefficients(const CoefficientTable& table, const Columns& columns,
                                  double* rows) {
  for (std::int64_t i = 0; i < table.n_alone; ++i) {
    const CoefficientAlone& entry = table.alone[i];
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      double* row = rows + entry.row * row_size + lane;
      const ComplexLanes c =
          own_partner(entry.root, entry.scale, lanes_of(columns.parity, lane), load(row, width));
      store(scaled(c, lanes_of(columns.factor, lane)), row, width);
    }
  }
  for (std::int64_t i = 0; i < table.n_pairs; ++i) {
    const CoefficientPair& pair = table.pairs[i];
    const ComplexLanes root = broadcast(pair.root);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const V p = lanes_of(columns.parity, lane);
      const V factor = lanes_of(columns.factor, lane);
      const V first_scale = hn::Mul(factor, broadcast(pair.scale[0]));
      const V second_scale = hn::Mul(hn::Mul(factor, p), broadcast(pair.scale[1]));
      double* first = rows + pair.rows[0] * row_size + lane;
      double* second = rows + pair.rows[1] * row_size + lane;
      if (To == Direction::transform) {
        const ComplexLanes a = product(load(first, width), root);
        const ComplexLanes b = scaled(conj_product(root, load(second, width)), p);
        store(scaled(a + b, first_scale), first, width);
        store(times_i(scaled(a - b, second_scale)), second, width);
      } else {
        const ComplexLanes a = scaled(load(first, width), first_scale);
        const ComplexLanes b = times_i(scaled(load(second, width), second_scale));
        store(product(a + b, root), first, width);
        store(scaled(conj_product(root, a - b), p), second, width);
      }
    }
  }
}

void to_coefficients(const CoefficientTable& table, const Columns& columns, double* rows) {
  turn_coefficients<Direction::transform>(table, columns, rows);
}
void from_coefficients(const CoefficientTable& table, const Columns& columns, double* rows) {
  turn_coefficients<Direction::transpose>(table, columns, rows);
}

void spread_alone(const SpreadTable& table, const double* parity, const double* rows,
                  double* fine) {
  for (std::int64_t i = 0; i < table.n_alone; ++i) {
    const SpreadAlone& entry = table.alone[i];
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      ComplexLanes value = zero();
      if (entry.coefficient >= 0) {
        value = own_partner(entry.root, 1, lanes_of(parity, lane),
                            load(rows + entry.coefficient * row_size + lane, width));
      }
      store(value, fine + entry.row * row_size + lane, width);
    }
  }
}

/// Spreads pairs of coefficients; if not Full, the second may be missing and counts as zero.
template <bool Full>
HWY_INLINE void spread_pairs(const SpreadPair* begin, const SpreadPair* end, const double* parity,
                             const double* rows, double* fine) {
  for (const SpreadPair* pair = begin; pair != end; ++pair) {
    const ComplexLanes root = broadcast(pair->root);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const V p = lanes_of(parity, lane);
      ComplexLanes sum = load(rows + pair->coefficients[0] * row_size + lane, width);
      ComplexLanes difference = sum;
      if (Full) {
        const ComplexLanes turned =
            times_i(scaled(load(rows + pair->coefficients[1] * row_size + lane, width), p));
        sum = sum + turned;
        difference = difference - turned;
      }
      store(product(difference, root), fine + pair->rows[0] * row_size + lane, width);
      store(scaled(conj_product(root, sum), p), fine + pair->rows[1] * row_size + lane, width);
    }
  }
}

void spread_coefficients(const SpreadTable& table, const double* parity, const double* rows,
                         double* fine) {
  spread_alone(table, parity, rows, fine);
  spread_pairs<true>(table.pairs, table.pairs + table.n_full, parity, rows, fine);
  spread_pairs<false>(table.pairs + table.n_full, table.pairs + table.n_half, parity, rows, fine);
  for (std::int64_t i = table.n_half; i < table.n_pairs; ++i) {
    for (const std::int64_t row : table.pairs[i].rows) {
      for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
        store(zero(), fine + row * row_size + lane, width);
      }
    }
  }
}

template <bool Full>
HWY_INLINE void collect_pairs(const SpreadPair* begin, const SpreadPair* end, const double* parity,
                              const double* fine, double* rows) {
  for (const SpreadPair* pair = begin; pair != end; ++pair) {
    const ComplexLanes root = broadcast(pair->root);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const V p = lanes_of(parity, lane);
      const ComplexLanes a = product(load(fine + pair->rows[0] * row_size + lane, width), root);
      const ComplexLanes b =
          scaled(conj_product(root, load(fine + pair->rows[1] * row_size + lane, width)), p);
      store(a + b, rows + pair->coefficients[0] * row_size + lane, width);
      if (Full) {
        store(times_i(scaled(b - a, p)), rows + pair->coefficients[1] * row_size + lane, width);
      }
    }
  }
}

void collect_coefficients(const SpreadTable& table, const double* parity, const double* fine,
                          double* rows) {
  for (std::int64_t i = 0; i < table.n_alone; ++i) {
    const SpreadAlone& entry = table.alone[i];
    if (entry.coefficient < 0) continue;
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      store(own_partner(entry.root, 1, lanes_of(parity, lane),
                        load(fine + entry.row * row_size + lane, width)),
            rows + entry.coefficient * row_size + lane, width);
    }
  }
  collect_pairs<true>(table.pairs, table.pairs + table.n_full, parity, fine, rows);
  collect_pairs<false>(table.pairs + table.n_full, table.pairs + table.n_half, parity, fine, rows);
}

/// Returns the row of fine sample j; samples before the first and beyond the last are in the
/// ghosts.
HWY_INLINE std::int64_t row_of_sample(std::int64_t length, std::int64_t j) {
  return j % 2 == 0 ? j / 2 : length - (1 + j) / 2;
}

void fill_ghosts(std::int64_t length, double* fine) {
  std::copy_n(fine + (length - ghosts) * row_size, ghosts * row_size, fine - ghosts * row_size);
  std::copy_n(fine, ghosts * row_size, fine + length * row_size);
}

void interpolate(const TapTable& table, const double* parity, RingRange kept, double* fine,
                 double* values) {
  fill_ghosts(table.length, fine);
  for (std::int64_t ring = kept.begin; ring < kept.end; ++ring) {
    // Even samples are in ascending rows, odd ones in descending rows.
    const std::int64_t first = table.first[ring];
    const std::int64_t even = first + (first & 1);
    const std::int64_t odd = first + 1 - (first & 1);
    const double* HWY_RESTRICT even_weight = table.weights + table.offset[ring] + even;
    const double* HWY_RESTRICT odd_weight = table.weights + table.offset[ring] + odd;
    const double* HWY_RESTRICT ascending = fine + even / 2 * row_size;
    const double* HWY_RESTRICT descending = fine + (table.length - (1 + odd) / 2) * row_size;
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      ComplexLanes even_sum = zero();
      ComplexLanes odd_sum = zero();
#pragma GCC unroll 16
      for (std::int64_t t = 0; t < taps / 2; ++t) {
        even_sum = multiply_add(load(ascending + t * row_size + lane, width),
                                broadcast(even_weight[2 * t]), even_sum);
        odd_sum = multiply_add(load(descending - t * row_size + lane, width),
                               broadcast(odd_weight[2 * t]), odd_sum);
      }
      store(multiply_add(odd_sum, lanes_of(parity, lane), even_sum),
            values + ring * row_size + lane, width);
    }
  }
}

/// Sums over the rings that touch the fine samples j..j + tile - 1.
HWY_INLINE void sum_tile(const TapTable& table, RingRange rings, std::int64_t j, std::int64_t lane,
                         const double* values, ComplexLanes* sums) {
  for (int i = 0; i < tile; ++i) sums[i] = zero();
  for (std::int64_t ring = rings.begin; ring < rings.end; ++ring) {
    const double* HWY_RESTRICT weight = table.weights + table.offset[ring] + j;
    const ComplexLanes value = load(values + ring * row_size + lane, width);
#pragma GCC unroll 4
    for (int i = 0; i < tile; ++i) sums[i] = multiply_add(value, broadcast(weight[i]), sums[i]);
  }
}

HWY_INLINE ComplexLanes with_parity(std::int64_t j, const double* parity, std::int64_t lane,
                                    ComplexLanes x) {
  return j % 2 == 0 ? x : scaled(x, lanes_of(parity, lane));
}

void spread(const TapTable& table, const double* parity, RingRange kept, const double* values,
            double* fine) {
  const std::int64_t length = table.length;
  const RingRange* touching = table.touching + taps / 2 / tile;
  for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
    ComplexLanes sums[std::size_t{tile}];
    for (std::int64_t j = 0; j < length; j += tile) {
      sum_tile(table, intersection(touching[j / tile], kept), j, lane, values, sums);
      for (std::int64_t i = 0; i < tile; ++i) {
        store(with_parity(j + i, parity, lane, sums[i]),
              fine + row_of_sample(length, j + i) * row_size + lane, width);
      }
    }
    // Samples beyond the poles are in the same rows, one period later.
    const auto add_tile = [&](std::int64_t j) HWY_ATTR {
      sum_tile(table, intersection(touching[j / tile], kept), j, lane, values, sums);
      for (std::int64_t i = 0; i < tile; ++i) {
        const std::int64_t row = (row_of_sample(length, j + i) + length) % length;
        double* target = fine + row * row_size + lane;
        store(load(target, width) + with_parity(j + i, parity, lane, sums[i]), target, width);
      }
    };
    for (std::int64_t j = -taps / 2; j < 0; j += tile) add_tile(j);
    for (std::int64_t j = length; j < length + taps / 2; j += tile) add_tile(j);
  }
}

}  // namespace ringweave::detail::inline legendre::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline legendre::columns {

HWY_EXPORT(to_coefficients);
HWY_EXPORT(from_coefficients);
HWY_EXPORT(spread_coefficients);
HWY_EXPORT(collect_coefficients);
HWY_EXPORT(interpolate);
HWY_EXPORT(spread);

void to_coefficients(const CoefficientTable& table, const Columns& columns, double* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(to_coefficients)(table, columns, rows);
}
void from_coefficients(const CoefficientTable& table, const Columns& columns,
                       double* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(from_coefficients)(table, columns, rows);
}
void spread_coefficients(const SpreadTable& table, const double* parity, const double* rows,
                         double* fine) noexcept {
  HWY_DYNAMIC_DISPATCH(spread_coefficients)(table, parity, rows, fine);
}
void collect_coefficients(const SpreadTable& table, const double* parity, const double* fine,
                          double* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(collect_coefficients)(table, parity, fine, rows);
}
void interpolate(const TapTable& table, const double* parity, RingRange kept, double* fine,
                 double* values) noexcept {
  HWY_DYNAMIC_DISPATCH(interpolate)(table, parity, kept, fine, values);
}
void spread(const TapTable& table, const double* parity, RingRange kept, const double* values,
            double* fine) noexcept {
  HWY_DYNAMIC_DISPATCH(spread)(table, parity, kept, values, fine);
}

}  // namespace ringweave::detail::inline legendre::columns
#endif
