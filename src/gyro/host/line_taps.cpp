// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/host/line_taps.hpp"

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
// As many sums as hide the latency of their additions, for two loads a cycle.
constexpr int n_sums = 4;
static_assert(line_block % (n_sums * n_lanes) == 0);

void add_taps(const LineTaps& taps, double factor, const double* from, double* to, std::int64_t n) {
  const D d;
  for (std::int64_t j = 0; j < n; j += n_sums * n_lanes) {
    V sums[std::size_t{n_sums}];
#pragma GCC unroll 4
    for (int v = 0; v < n_sums; ++v) sums[v] = hn::LoadU(d, to + j + v * n_lanes);
    for (std::int64_t k = 0; k < taps.count; ++k) {
      const std::int64_t offset = taps.first + k;
      // Offset 0 is counted twice below.
      const V weight = hn::Set(d, (offset == 0 ? 0.5 * factor : factor) * taps.weights[k]);
      const double* const before = from + j - offset;
      const double* const after = from + j + offset;
#pragma GCC unroll 4
      for (int v = 0; v < n_sums; ++v) {
        const V both =
            hn::Add(hn::LoadU(d, before + v * n_lanes), hn::LoadU(d, after + v * n_lanes));
        sums[v] = hn::MulAdd(weight, both, sums[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < n_sums; ++v) hn::StoreU(sums[v], d, to + j + v * n_lanes);
  }
}

}  // namespace ringweave::detail::inline gyro::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline gyro {
namespace {

HWY_EXPORT(add_taps);

}  // namespace

void add_line_taps(const LineTaps& taps, double factor, const double* from, double* to,
                   std::int64_t n) noexcept {
  HWY_DYNAMIC_DISPATCH(add_taps)(taps, factor, from, to, n);
}

}  // namespace ringweave::detail::inline gyro
#endif
