// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/host/chebyshev_kernels.hpp"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gyro/host/chebyshev_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline gyro::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr D d{};
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

/// Terms that are summed before they are added to the whole, which loses fewer digits.
constexpr std::int64_t terms_together = 16;

/// Sums of n_rows rows and two vectors of columns: eight sums hide the latency of a multiply-add.
template <int n_rows>
HWY_INLINE void multiply_tile(const ProductTerms& terms, const double* HWY_RESTRICT a,
                              const double* HWY_RESTRICT b, double* HWY_RESTRICT out,
                              std::int64_t out_row) {
  V totals[std::size_t{n_rows}][2];
#pragma GCC unroll 4
  for (int r = 0; r < n_rows; ++r) totals[r][0] = totals[r][1] = hn::Zero(d);
  for (std::int64_t begin = 0; begin < terms.n; begin += terms_together) {
    V sums[std::size_t{n_rows}][2];
#pragma GCC unroll 4
    for (int r = 0; r < n_rows; ++r) sums[r][0] = sums[r][1] = hn::Zero(d);
    for (std::int64_t k = begin; k < std::min(begin + terms_together, terms.n); ++k) {
      const V b0 = hn::LoadU(d, b);
      const V b1 = hn::LoadU(d, b + lanes);
#pragma GCC unroll 4
      for (int r = 0; r < n_rows; ++r) {
        const V factor = hn::Set(d, a[r * terms.a_row]);
        sums[r][0] = hn::MulAdd(factor, b0, sums[r][0]);
        sums[r][1] = hn::MulAdd(factor, b1, sums[r][1]);
      }
      a += terms.a_term;
      b += terms.b_term;
    }
#pragma GCC unroll 4
    for (int r = 0; r < n_rows; ++r) {
      totals[r][0] = hn::Add(totals[r][0], sums[r][0]);
      totals[r][1] = hn::Add(totals[r][1], sums[r][1]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < n_rows; ++r) {
    hn::StoreU(totals[r][0], d, out + r * out_row);
    hn::StoreU(totals[r][1], d, out + r * out_row + lanes);
  }
}

// Columns outside: the few of b stay in the cache.
void multiply_all(const ProductTerms& terms, std::int64_t n_rows, std::int64_t n_columns,
                  double* out, std::int64_t out_row) {
  for (std::int64_t c = 0; c < n_columns; c += 2 * lanes) {
    std::int64_t r = 0;
    for (; r + 4 <= n_rows; r += 4) {
      multiply_tile<4>(terms, terms.a + r * terms.a_row, terms.b + c, out + r * out_row + c,
                       out_row);
    }
    for (; r < n_rows; ++r) {
      multiply_tile<1>(terms, terms.a + r * terms.a_row, terms.b + c, out + r * out_row + c,
                       out_row);
    }
  }
}

void values_of_all(const double* u, const double* weights, std::int64_t n_points,
                   std::int64_t n_degrees, double* out, std::int64_t out_row) {
  constexpr std::int64_t together = 8;  // the recurrence of one would wait for itself
  constexpr std::int64_t n = together / lanes;
  for (std::int64_t k = 0; k < n_points; k += together) {
    V twice[std::size_t{n}];
    V before[std::size_t{n}];
    V now[std::size_t{n}];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < n; ++v) {
      const V at = hn::LoadU(d, u + k + v * lanes);
      now[v] = hn::LoadU(d, weights + k + v * lanes);
      before[v] = hn::Mul(at, now[v]);  // T_{-1} = T_1
      twice[v] = hn::Add(at, at);
    }
    double* HWY_RESTRICT to = out + k * out_row;
    for (std::int64_t p = 0; p < n_degrees; ++p) {
      HWY_ALIGN double values[std::size_t{together}];
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < n; ++v) {
        hn::Store(now[v], d, values + v * lanes);
        const V next = hn::MulSub(twice[v], now[v], before[v]);
        before[v] = now[v];
        now[v] = next;
      }
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < together; ++i) to[i * out_row + p] = values[i];
    }
  }
}

constexpr std::int64_t target_vectors = targets_together / lanes;
/// Columns whose sums fit the registers together with the rows.
constexpr int columns_together = lanes == 8 ? 8 : lanes == 4 ? 3 : 1;
/// Parts of the rows that are read in turn: memory gives more to several readers than to one.
constexpr std::int64_t row_parts = 4;
/// Elements of each part that stay in the first-level cache while all columns pass.
constexpr std::int64_t tile = 128 / row_parts;
/// The same where several blocks are summed.
constexpr std::int64_t spread_tile = 32;
/// Rows that are asked for before their turn where many columns pass: a page of memory.
constexpr std::int64_t rows_ahead = 32;

/// Adds elements [begin, end) of each of n_parts parts, which are `part` elements apart. Short sums
/// that are added to the whole lose fewer digits than one long sum.
template <int n_columns, int n_parts>
HWY_INLINE void add_tile(const double* HWY_RESTRICT rows, std::int64_t part, std::int64_t begin,
                         std::int64_t end, const ColumnSum* columns) {
  V sums[std::size_t{n_columns}][std::size_t{target_vectors}];
  const double* from[std::size_t{n_columns}];
#pragma GCC unroll 8
  for (int c = 0; c < n_columns; ++c) {
    from[c] = columns[c].column;
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < target_vectors; ++v) sums[c][v] = hn::Zero(d);
  }
  for (std::int64_t j = begin; j < end; ++j) {
#pragma GCC unroll 8
    for (int p = 0; p < n_parts; ++p) {
      const std::int64_t k = p * part + j;
      const double* row = rows + k * targets_together;
      V factors[std::size_t{n_columns}];
      if constexpr (n_columns > 4) {  // it may lie beyond the table
        hwy::Prefetch(row + rows_ahead * targets_together);
        hwy::Prefetch(row + rows_ahead * targets_together + targets_together / 2);
      }
#pragma GCC unroll 8
      for (int c = 0; c < n_columns; ++c) factors[c] = hn::Set(d, from[c][k]);
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < target_vectors; ++v) {
        const V entries = hn::LoadU(d, row + v * lanes);
#pragma GCC unroll 8
        for (int c = 0; c < n_columns; ++c)
          sums[c][v] = hn::MulAdd(entries, factors[c], sums[c][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < n_columns; ++c) {
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < target_vectors; ++v)
      hn::StoreU(hn::Add(hn::LoadU(d, columns[c].sums + v * lanes), sums[c][v]), d,
                 columns[c].sums + v * lanes);
  }
}

template <int n_parts>
HWY_INLINE void add_columns(const double* rows, std::int64_t part, std::int64_t begin,
                            std::int64_t end, const ColumnSum* columns, std::int64_t n_columns) {
  std::int64_t c = 0;
  for (; c + columns_together <= n_columns; c += columns_together)
    add_tile<columns_together, n_parts>(rows, part, begin, end, columns + c);
  if constexpr (columns_together > 4) {
    for (; c + 4 <= n_columns; c += 4) add_tile<4, n_parts>(rows, part, begin, end, columns + c);
  }
  for (; c + 2 <= n_columns; c += 2) add_tile<2, n_parts>(rows, part, begin, end, columns + c);
  for (; c < n_columns; ++c) add_tile<1, n_parts>(rows, part, begin, end, columns + c);
}

void add_all(const double* rows, std::int64_t n, const ColumnSum* columns, std::int64_t n_columns) {
  const std::int64_t part = n / row_parts;
  for (std::int64_t begin = 0; begin < part; begin += tile) {
    add_columns<row_parts>(rows, part, begin, std::min(begin + tile, part), columns, n_columns);
  }
  add_columns<1>(rows, 0, part * row_parts, n, columns, n_columns);
}

template <int n_columns>
HWY_INLINE void spread_element(const double* HWY_RESTRICT row, std::int64_t block_size,
                               std::int64_t n_blocks, std::int64_t k, double weight,
                               const ColumnSpread* columns) {
  V sums[std::size_t{n_columns}];
#pragma GCC unroll 4
  for (int c = 0; c < n_columns; ++c) sums[c] = hn::Zero(d);
  for (std::int64_t block = 0; block < n_blocks; ++block) {
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < target_vectors; ++v) {
      const V entries = hn::LoadU(d, row + block * block_size + v * lanes);
#pragma GCC unroll 4
      for (int c = 0; c < n_columns; ++c) {
        const double* values = columns[c].values + block * targets_together + v * lanes;
        sums[c] = hn::MulAdd(entries, hn::LoadU(d, values), sums[c]);
      }
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < n_columns; ++c)
    columns[c].column[k] += weight * hn::GetLane(hn::SumOfLanes(d, sums[c]));
}

void spread_all(const double* rows, std::int64_t block_size, std::int64_t n_blocks, std::int64_t n,
                double weight, const ColumnSpread* columns, std::int64_t n_columns) {
  const auto spread = [&](auto count, std::int64_t begin, std::int64_t end, std::int64_t c)
                          HWY_ATTR {
                            for (std::int64_t k = begin; k < end; ++k) {
                              spread_element<count()>(rows + k * targets_together, block_size,
                                                      n_blocks, k, weight, columns + c);
                            }
                          };
  for (std::int64_t begin = 0; begin < n; begin += spread_tile) {
    const std::int64_t end = std::min(begin + spread_tile, n);
    std::int64_t c = 0;
    for (; c + 4 <= n_columns; c += 4) spread(std::integral_constant<int, 4>(), begin, end, c);
    for (; c < n_columns; ++c) spread(std::integral_constant<int, 1>(), begin, end, c);
  }
}

}  // namespace ringweave::detail::inline gyro::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline gyro {
namespace {

HWY_EXPORT(multiply_all);
HWY_EXPORT(values_of_all);
HWY_EXPORT(add_all);
HWY_EXPORT(spread_all);

}  // namespace

void multiply_matrices(const ProductTerms& terms, std::int64_t n_rows, std::int64_t n_columns,
                       double* out, std::int64_t out_row) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_all)(terms, n_rows, n_columns, out, out_row);
}

void chebyshev_values(const double* u, const double* weights, std::int64_t n_points,
                      std::int64_t n_degrees, double* out, std::int64_t out_row) noexcept {
  HWY_DYNAMIC_DISPATCH(values_of_all)(u, weights, n_points, n_degrees, out, out_row);
}

void add_row_sums(const double* rows, std::int64_t n, const ColumnSum* columns,
                  std::int64_t n_columns) noexcept {
  HWY_DYNAMIC_DISPATCH(add_all)(rows, n, columns, n_columns);
}

void spread_rows(const double* rows, std::int64_t block_size, std::int64_t n_blocks, std::int64_t n,
                 double weight, const ColumnSpread* columns, std::int64_t n_columns) noexcept {
  HWY_DYNAMIC_DISPATCH(spread_all)
  (rows, block_size, n_blocks, n, weight, columns, n_columns);
}

}  // namespace ringweave::detail::inline gyro
#endif
