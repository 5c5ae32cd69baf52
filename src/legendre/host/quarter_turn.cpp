// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/quarter_turn.hpp"

#include <algorithm>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/quarter_turn.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::quarter_turn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));

/// Returns how many blocks of columns stay in the L1 cache while all rows pass over them (12 to 17
/// KiB).
constexpr std::int64_t chunk_blocks(int n_maps) { return n_maps == 1 ? 32 : 20; }

/// Returns how many rows are computed in registers: sums and row values take one for every row and
/// map, and the longest vectors come with 32 registers.
constexpr int rows_at_once(int n_maps) { return n_lanes == 8 ? (n_maps == 1 ? 8 : 4) : 4; }

/// Kinds of blocks. Columns of a block of the diagonal are its rows, so that it needs no sums for
/// them.
enum class Part { beyond_diagonal, diagonal };

HWY_INLINE V column_numbers(int l, std::int64_t column) {
  return hn::Sub(hn::Set(D(), static_cast<double>(l - column)), hn::Iota(D(), 0.0));
}

// Even and odd columns share a vector, unless it has one lane only.
constexpr int n_kinds = n_lanes == 1 ? 2 : 1;

/// Returns the values of even and odd columns in the even and the odd lanes.
HWY_INLINE V alternating(const double* pair, int kind) {
  return n_kinds == 2 ? hn::Load(D(), pair + kind) : hn::LoadDup128(D(), pair);
}

/// Adds the sums of the even and of the odd lanes to two doubles.
HWY_INLINE void add_lanes(V sum, int kind, double* HWY_RESTRICT to) {
  const hn::CappedTag<double, 2> pair;
  HWY_ALIGN double lanes[std::size_t{n_lanes}];
  hn::Store(sum, D(), lanes);
  auto of_parity = hn::Load(pair, to + kind);
  for (std::int64_t i = 0; i < n_lanes; i += std::min<std::int64_t>(2, n_lanes))
    of_parity = hn::Add(of_parity, hn::Load(pair, lanes + i));
  hn::Store(of_parity, pair, to + kind);
}

/// Computes n_rows rows, from an even one, of some blocks of columns.
template <int n_rows, int n_maps, Part part>
HWY_NOINLINE void pass_rows(const Task& task, std::int64_t row, std::int64_t begin,
                            std::int64_t end) {
  const D d;
  V sums[std::size_t{n_rows * n_maps * n_kinds}];
  V values[std::size_t{n_rows * n_maps * n_kinds}];
  V slopes[std::size_t{n_rows}];
#pragma GCC unroll 24
  for (int i = 0; i < n_rows * n_maps * n_kinds; ++i) {
    sums[i] = hn::Zero(d);
    values[i] = alternating(task.row_values + 2 * (row * n_maps + i / n_kinds), i % n_kinds);
  }
#pragma GCC unroll 8
  for (int q = 0; q < n_rows; ++q) slopes[q] = hn::Set(d, task.slopes[row + q]);
  V n = column_numbers(task.l, begin * width);
  const V next_numbers = hn::Set(d, static_cast<double>(n_lanes));
  for (std::int64_t b = begin; b < end; ++b) {
    double* HWY_RESTRICT block = task.columns + b * block_size(n_maps);
#pragma GCC unroll 4
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      double* HWY_RESTRICT at = block + lane;
      V value = hn::Load(d, at);
      V previous = hn::Load(d, at + width);
      V x[std::size_t{2 * n_maps}];
      V y[std::size_t{2 * n_maps}];
#pragma GCC unroll 6
      for (int i = 0; i < 2 * n_maps; ++i) {
        const double* of_map = at + width * (2 + 4 * (i / 2) + i % 2);
        x[i] = hn::Load(d, of_map);
        if constexpr (part == Part::beyond_diagonal) y[i] = hn::Load(d, of_map + 2 * width);
      }
#pragma GCC unroll 8
      for (int q = 0; q < n_rows; ++q) {
#pragma GCC unroll 3
        for (int map = 0; map < n_maps; ++map) {
          const int i = (q * n_maps + map) * n_kinds + static_cast<int>(lane % n_kinds);
          const int of_parity = 2 * map + q % 2;
          sums[i] = hn::MulAdd(value, x[of_parity], sums[i]);
          if constexpr (part == Part::beyond_diagonal)
            y[of_parity] = hn::MulAdd(value, values[i], y[of_parity]);
        }
        const V next = hn::MulSub(hn::Mul(slopes[q], n), value, previous);
        previous = value;
        value = next;
      }
      hn::Store(value, d, at);
      hn::Store(previous, d, at + width);
      if constexpr (part == Part::beyond_diagonal) {
#pragma GCC unroll 6
        for (int i = 0; i < 2 * n_maps; ++i)
          hn::Store(y[i], d, at + width * (4 + 4 * (i / 2) + i % 2));
      }
      n = hn::Sub(n, next_numbers);
    }
  }
#pragma GCC unroll 24
  for (int i = 0; i < n_rows * n_maps * n_kinds; ++i)
    add_lanes(sums[i], i % n_kinds, task.row_sums + 2 * (row * n_maps + i / n_kinds));
}

template <int n_maps, Part part>
HWY_INLINE void pass_block_of_rows(const Task& task, std::int64_t row_block, std::int64_t begin,
                                   std::int64_t end) {
  if (begin >= end) return;
  constexpr int n_rows = rows_at_once(n_maps);
  for (std::int64_t row = row_block * width; row < (row_block + 1) * width; row += n_rows)
    pass_rows<n_rows, n_maps, part>(task, row, begin, end);
}

/// Continues the recurrence of a block of columns whose values are negligible over a block of rows.
template <int n_maps>
HWY_INLINE void continue_asleep(const Task& task, std::int64_t row_block, std::int64_t b) {
  const D d;
  const V largest = hn::Set(d, largest_asleep);
  const double* slopes = task.slopes + row_block * width;
  double* HWY_RESTRICT block = task.columns + b * block_size(n_maps);
  bool is_large = false;
  for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
    V value = hn::Load(d, block + lane);
    V previous = hn::Load(d, block + lane + width);
    const V n = column_numbers(task.l, b * width + lane);
#pragma GCC unroll 8
    for (int q = 0; q < width; ++q) {
      const V next = hn::MulSub(hn::Mul(hn::Set(d, slopes[q]), n), value, previous);
      previous = value;
      value = next;
    }
    hn::Store(value, d, block + lane);
    hn::Store(previous, d, block + lane + width);
    is_large = is_large || !hn::AllTrue(d, hn::Lt(hn::Abs(value), largest));
  }
  if (!is_large || task.scales[b] == 0) return;
  --task.scales[b];
  const V down = hn::Set(d, smallest_asleep / largest_asleep);
  for (std::int64_t i = 0; i < 2 * width; i += n_lanes)
    hn::Store(hn::Mul(hn::Load(d, block + i), down), d, block + i);
}

/// Passes all rows over a chunk of columns. Blocks from `awake` on are awake. In a row of the
/// matrix values that have not begun to oscillate fall towards higher n, so blocks awake from the
/// end.
template <int n_maps>
HWY_INLINE void pass_chunk(const Task& task, std::int64_t begin, std::int64_t end) {
  std::int64_t awake = end;
  while (awake > begin && task.scales[awake - 1] == 0) --awake;
  for (std::int64_t j = 0; j < end; ++j) {
    const std::int64_t first = std::max(begin, std::max(j, awake));
    if (first == j) pass_block_of_rows<n_maps, Part::diagonal>(task, j, j, j + 1);
    pass_block_of_rows<n_maps, Part::beyond_diagonal>(task, j, std::max(first, j + 1), end);
    for (std::int64_t b = awake; b-- > std::max(begin, j + 1);) {
      continue_asleep<n_maps>(task, j, b);
      if (task.scales[b] == 0 && awake == b + 1) awake = b;
    }
  }
}

template <int n_maps>
HWY_INLINE void add_sums_of(const Task& task) {
  for (std::int64_t begin = task.first_block; begin < task.n_blocks; begin += chunk_blocks(n_maps))
    pass_chunk<n_maps>(task, begin, std::min(begin + chunk_blocks(n_maps), task.n_blocks));
}

void add_sums_of_maps(const Task& task) {
  switch (task.n_maps) {
    case 1: return add_sums_of<1>(task);
    case 2: return add_sums_of<2>(task);
    default: return add_sums_of<3>(task);
  }
}

void fill_factors_of(int l, double* HWY_RESTRICT couplings, double* HWY_RESTRICT ratios,
                     double* HWY_RESTRICT falls) {
  const D d;
  const V one = hn::Set(d, 1.0);
  const V degree = hn::Set(d, static_cast<double>(l));
  const V twice = hn::Set(d, 2.0 * l);
  for (std::int64_t r = 0; r <= l; r += n_lanes) {
    // All products are whole numbers below 2^53, and exact.
    const V row = hn::Iota(d, static_cast<double>(r));
    const V squared = hn::Mul(hn::Sub(twice, row), hn::Add(row, one));
    const V squared_before = hn::Mul(hn::Add(hn::Sub(twice, row), one), row);
    hn::Store(hn::Sqrt(squared), d, couplings + r);
    hn::Store(hn::Sqrt(hn::Div(squared_before, squared)), d, ratios + r);
    hn::Store(hn::Sqrt(hn::Div(hn::Sub(degree, row), hn::Add(hn::Add(degree, row), one))), d,
              falls + r);
  }
}

}  // namespace ringweave::detail::inline legendre::quarter_turn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline legendre::quarter_turn {
namespace {

HWY_EXPORT(add_sums_of_maps);
HWY_EXPORT(fill_factors_of);

}  // namespace

void add_sums(const Task& task) noexcept { HWY_DYNAMIC_DISPATCH(add_sums_of_maps)(task); }

void fill_factors(int l, double* couplings, double* ratios, double* falls) noexcept {
  HWY_DYNAMIC_DISPATCH(fill_factors_of)(l, couplings, ratios, falls);
}

}  // namespace ringweave::detail::inline legendre::quarter_turn
#endif
