// SPDX-License-Identifier: GPL-3.0-or-later
// The sets below add nothing to double arithmetic; arrays of vectors rule out scalable ones.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/theta_columns.cpp"
#include "legendre/host/theta_columns.hpp"

#include <algorithm>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "legendre/host/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::columns::HWY_NAMESPACE {

HWY_INLINE Vec lanes_of(const double* parity, std::int64_t lane) {
  return hn::LoadU(Lanes(), parity + lane);
}

/// factor (root + parity conj(root)) x.
HWY_INLINE Value own_partner(const double* root, double factor, Vec parity, Value x) {
  const Vec one = all(1);
  return product(hn::Mul(all(factor * root[0]), hn::Add(one, parity)),
                 hn::Mul(all(factor * root[1]), hn::Sub(one, parity)), x);
}

void coefficients_alone(const CoefficientTable& table, const double* parity, double* rows) {
  for (std::int64_t i = 0; i < table.n_alone; ++i) {
    const CoefficientAlone& entry = table.alone[i];
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      double* row = rows + entry.row * row_size + lane;
      store(own_partner(entry.root, entry.scale, lanes_of(parity, lane), load(row)), row);
    }
  }
}

void to_coefficients(const CoefficientTable& table, const double* parity, double* rows) {
  coefficients_alone(table, parity, rows);
  for (std::int64_t i = 0; i < table.n_pairs; ++i) {
    const CoefficientPair& pair = table.pairs[i];
    const Vec re = all(pair.root[0]);
    const Vec im = all(pair.root[1]);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const Vec p = lanes_of(parity, lane);
      double* first = rows + pair.rows[0] * row_size + lane;
      double* second = rows + pair.rows[1] * row_size + lane;
      const Value a = product(re, im, load(first));
      const Value b = scale(p, conjugate_product(re, im, load(second)));
      store(scale(all(pair.scale[0]), add(a, b)), first);
      store(times_i(scale(hn::Mul(p, all(pair.scale[1])), subtract(a, b))), second);
    }
  }
}

void from_coefficients(const CoefficientTable& table, const double* parity, double* rows) {
  coefficients_alone(table, parity, rows);
  for (std::int64_t i = 0; i < table.n_pairs; ++i) {
    const CoefficientPair& pair = table.pairs[i];
    const Vec re = all(pair.root[0]);
    const Vec im = all(pair.root[1]);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const Vec p = lanes_of(parity, lane);
      double* first = rows + pair.rows[0] * row_size + lane;
      double* second = rows + pair.rows[1] * row_size + lane;
      const Value a = scale(all(pair.scale[0]), load(first));
      const Value b = times_i(scale(hn::Mul(p, all(pair.scale[1])), load(second)));
      store(product(re, im, add(a, b)), first);
      store(scale(p, conjugate_product(re, im, subtract(a, b))), second);
    }
  }
}

void spread_alone(const SpreadTable& table, const double* parity, const double* rows,
                  double* fine) {
  for (std::int64_t i = 0; i < table.n_alone; ++i) {
    const SpreadAlone& entry = table.alone[i];
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      Value value = zero();
      if (entry.coefficient >= 0) {
        value = own_partner(entry.root, 1, lanes_of(parity, lane),
                            load(rows + entry.coefficient * row_size + lane));
      }
      store(value, fine + entry.row * row_size + lane);
    }
  }
}

/// The second coefficient of a pair is there or zero.
template <bool Full>
HWY_INLINE void spread_pairs(const SpreadPair* begin, const SpreadPair* end, const double* parity,
                             const double* rows, double* fine) {
  for (const SpreadPair* pair = begin; pair != end; ++pair) {
    const Vec re = all(pair->root[0]);
    const Vec im = all(pair->root[1]);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const Vec p = lanes_of(parity, lane);
      Value sum = load(rows + pair->coefficients[0] * row_size + lane);
      Value difference = sum;
      if (Full) {
        const Value turned =
            times_i(scale(p, load(rows + pair->coefficients[1] * row_size + lane)));
        sum = add(sum, turned);
        difference = subtract(difference, turned);
      }
      store(product(re, im, difference), fine + pair->rows[0] * row_size + lane);
      store(scale(p, conjugate_product(re, im, sum)), fine + pair->rows[1] * row_size + lane);
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
        store(zero(), fine + row * row_size + lane);
      }
    }
  }
}

template <bool Full>
HWY_INLINE void collect_pairs(const SpreadPair* begin, const SpreadPair* end, const double* parity,
                              const double* fine, double* rows) {
  for (const SpreadPair* pair = begin; pair != end; ++pair) {
    const Vec re = all(pair->root[0]);
    const Vec im = all(pair->root[1]);
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const Vec p = lanes_of(parity, lane);
      const Value a = product(re, im, load(fine + pair->rows[0] * row_size + lane));
      const Value b =
          scale(p, conjugate_product(re, im, load(fine + pair->rows[1] * row_size + lane)));
      store(add(a, b), rows + pair->coefficients[0] * row_size + lane);
      if (Full) {
        store(times_i(scale(p, subtract(b, a))), rows + pair->coefficients[1] * row_size + lane);
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
                        load(fine + entry.row * row_size + lane)),
            rows + entry.coefficient * row_size + lane);
    }
  }
  collect_pairs<true>(table.pairs, table.pairs + table.n_full, parity, fine, rows);
  collect_pairs<false>(table.pairs + table.n_full, table.pairs + table.n_half, parity, fine, rows);
}

/// Row of fine sample j; negative and beyond the last where ghosts lie.
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
    // Even samples lie in ascending rows, odd ones in descending rows.
    const std::int64_t first = table.first[ring];
    const std::int64_t even = first + (first & 1);
    const std::int64_t odd = first + 1 - (first & 1);
    const double* HWY_RESTRICT even_weight = table.weights + table.offset[ring] + even;
    const double* HWY_RESTRICT odd_weight = table.weights + table.offset[ring] + odd;
    const double* HWY_RESTRICT ascending = fine + even / 2 * row_size;
    const double* HWY_RESTRICT descending = fine + (table.length - (1 + odd) / 2) * row_size;
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      Value even_sum = zero();
      Value odd_sum = zero();
#pragma GCC unroll 16
      for (std::int64_t t = 0; t < taps / 2; ++t) {
        even_sum =
            multiply_add(all(even_weight[2 * t]), load(ascending + t * row_size + lane), even_sum);
        odd_sum =
            multiply_add(all(odd_weight[2 * t]), load(descending - t * row_size + lane), odd_sum);
      }
      store(multiply_add(lanes_of(parity, lane), odd_sum, even_sum),
            values + ring * row_size + lane);
    }
  }
}

/// Sums over the rings that touch the fine samples j..j + tile - 1.
HWY_INLINE void sum_tile(const TapTable& table, RingRange rings, std::int64_t j, std::int64_t lane,
                         const double* values, Value* sums) {
  for (int i = 0; i < tile; ++i) sums[i] = zero();
  for (std::int64_t ring = rings.begin; ring < rings.end; ++ring) {
    const double* HWY_RESTRICT weight = table.weights + table.offset[ring] + j;
    const Value value = load(values + ring * row_size + lane);
#pragma GCC unroll 4
    for (int i = 0; i < tile; ++i) sums[i] = multiply_add(all(weight[i]), value, sums[i]);
  }
}

HWY_INLINE Value with_parity(std::int64_t j, const double* parity, std::int64_t lane, Value x) {
  return j % 2 == 0 ? x : scale(lanes_of(parity, lane), x);
}

void spread(const TapTable& table, const double* parity, RingRange kept, const double* values,
            double* fine) {
  const std::int64_t length = table.length;
  const RingRange* touching = table.touching + taps / 2 / tile;
  for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
    Value sums[std::size_t{tile}];
    for (std::int64_t j = 0; j < length; j += tile) {
      sum_tile(table, intersection(touching[j / tile], kept), j, lane, values, sums);
      for (std::int64_t i = 0; i < tile; ++i) {
        store(with_parity(j + i, parity, lane, sums[i]),
              fine + row_of_sample(length, j + i) * row_size + lane);
      }
    }
    // Samples beyond the poles lie in the same rows, once round the circle.
    const auto add_tile = [&](std::int64_t j) HWY_ATTR {
      sum_tile(table, intersection(touching[j / tile], kept), j, lane, values, sums);
      for (std::int64_t i = 0; i < tile; ++i) {
        const std::int64_t row = (row_of_sample(length, j + i) + length) % length;
        double* target = fine + row * row_size + lane;
        store(add(load(target), with_parity(j + i, parity, lane, sums[i])), target);
      }
    };
    for (std::int64_t j = -taps / 2; j < 0; j += tile) add_tile(j);
    for (std::int64_t j = length; j < length + taps / 2; j += tile) add_tile(j);
  }
}

}  // namespace ringweave::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::columns {

HWY_EXPORT(to_coefficients);
HWY_EXPORT(from_coefficients);
HWY_EXPORT(spread_coefficients);
HWY_EXPORT(collect_coefficients);
HWY_EXPORT(interpolate);
HWY_EXPORT(spread);

void to_coefficients(const CoefficientTable& table, const double* parity, double* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(to_coefficients)(table, parity, rows);
}
void from_coefficients(const CoefficientTable& table, const double* parity, double* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(from_coefficients)(table, parity, rows);
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

}  // namespace ringweave::columns
#endif
