// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/host/line_taps.hpp"

#include <algorithm>
#include <cstddef>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gyro/host/line_taps.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline gyro::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
// As many sums as hide the latency of their additions, for two a cycle.
constexpr int n_sums = static_cast<int>(std::min<std::int64_t>(8, line_block / n_lanes));
static_assert(line_block % (n_sums * n_lanes) == 0);
// Few lines reach more offsets than these take of the first cache.
constexpr std::int64_t most_folded = 32;

/// Offsets [begin, end), of which the two values that have one weight are added once for all lines.
struct FoldedLine {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t n = 0;  ///< values of an offset
  HWY_ALIGN double values[static_cast<std::size_t>(most_folded * most_values)];

  void fold(const double* from, double factor) {
    const D d;
    double* to = values;
    for (std::int64_t offset = begin; offset < end; ++offset) {
      // Offset 0 is counted twice.
      const V scale = hn::Set(d, offset == 0 ? 0.5 * factor : factor);
      for (std::int64_t j = 0; j < n; j += line_block) {
        const double* const before = from + j - offset;
        const double* const after = from + j + offset;
#pragma GCC unroll 8
        for (std::int64_t v = 0; v < line_block; v += n_lanes, to += n_lanes) {
          const V both = hn::Add(hn::LoadU(d, before + v), hn::LoadU(d, after + v));
          hn::Store(hn::Mul(scale, both), d, to);
        }
      }
    }
  }
};

/// Adds the taps of one row of the table that are folded.
void add_row(const SideTable& table, std::size_t row, const FoldedLine& folded, double* to) {
  const D d;
  const SideTable::Run* const first = table.runs.data() + table.run_begin[row];
  const SideTable::Run* const last = table.runs.data() + table.run_begin[row + 1];
  for (const SideTable::Run* run = first; run < last; ++run) {
    const std::int64_t begin = std::max(run->first, folded.begin);
    const std::int64_t count = std::min(run->first + run->count, folded.end) - begin;
    if (count <= 0) continue;
    const double* const weights = table.weights.data() + run->begin + (begin - run->first);
    const double* const values = folded.values + (begin - folded.begin) * folded.n;
    for (std::int64_t j = 0; j < folded.n; j += n_sums * n_lanes) {
      V sums[std::size_t{n_sums}];
#pragma GCC unroll 8
      for (int v = 0; v < n_sums; ++v) sums[v] = hn::LoadU(d, to + j + v * n_lanes);
      for (std::int64_t k = 0; k < count; ++k) {
        const V weight = hn::Set(d, weights[k]);
        const double* const at = values + k * folded.n + j;
#pragma GCC unroll 8
        for (int v = 0; v < n_sums; ++v)
          sums[v] = hn::MulAdd(weight, hn::Load(d, at + v * n_lanes), sums[v]);
      }
#pragma GCC unroll 8
      for (int v = 0; v < n_sums; ++v) hn::StoreU(sums[v], d, to + j + v * n_lanes);
    }
  }
}

void add_taps(const TapLines& lines, double factor, const double* from, double* to,
              std::int64_t n) {
  const SideTable& table = *lines.table;
  const auto row = [&](std::int64_t i) {
    return static_cast<std::size_t>(lines.first_row + i * lines.rows_apart);
  };
  std::int64_t begin = lines.reach + 1;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < lines.count; ++i) {
    const std::int64_t first = table.run_begin[row(i)];
    const std::int64_t last = table.run_begin[row(i) + 1];
    if (first == last) continue;
    const SideTable::Run* const runs = table.runs.data();
    begin = std::min(begin, runs[first].first);
    end = std::max(end, runs[last - 1].first + runs[last - 1].count);
  }
  end = std::min(end, lines.reach + 1);
  FoldedLine folded;
  folded.n = n;
  for (folded.begin = begin; folded.begin < end; folded.begin = folded.end) {
    folded.end = std::min(folded.begin + most_folded, end);
    folded.fold(from, factor);
    for (std::int64_t i = 0; i < lines.count; ++i)
      add_row(table, row(i), folded, to + i * lines.lines_apart);
  }
}

}  // namespace ringweave::detail::inline gyro::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline gyro {
namespace {

HWY_EXPORT(add_taps);

}  // namespace

void add_line_taps(const TapLines& lines, double factor, const double* from, double* to,
                   std::int64_t n) noexcept {
  HWY_DYNAMIC_DISPATCH(add_taps)(lines, factor, from, to, n);
}

}  // namespace ringweave::detail::inline gyro
#endif
