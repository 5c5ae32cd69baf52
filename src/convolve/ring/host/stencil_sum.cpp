// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolve/ring/host/stencil_sum.cpp"
#include "convolve/ring/host/stencil_sum.hpp"

#include "base/simd/instruction_sets.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t rings = stencil::rings_together;
// Twelve sums hide the latency of a multiply-add and leave registers for the pixels.
constexpr std::int64_t vectors = 3;

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
inline constexpr std::int64_t together = vectors* static_cast<std::int64_t>(hn::MaxLanes(Tag<T>()));

template <class T>
HWY_NOINLINE void sum_taps(std::span<const stencil::Taps> taps, const T* weights,
                           const T* const* sources, std::int64_t width, T* out) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  constexpr std::int64_t n = together<T> / vectors;
  for (std::int64_t p = 0; p < width; p += together<T>) {
    V sum[rings][vectors];
    for (std::int64_t r = 0; r < rings; ++r) {
      for (std::int64_t v = 0; v < vectors; ++v) sum[r][v] = hn::Zero(d);
    }
    const T* weight = weights;
    for (const stencil::Taps& tap : taps) {
      const T* from = sources[tap.source] + tap.first + p;
      for (std::int64_t k = 0; k < tap.count; ++k, weight += rings, ++from) {
        const V x0 = hn::LoadU(d, from);
        const V x1 = hn::LoadU(d, from + n);
        const V x2 = hn::LoadU(d, from + 2 * n);
        for (std::int64_t r = 0; r < rings; ++r) {
          const V w = hn::Set(d, weight[r]);
          sum[r][0] = hn::MulAdd(w, x0, sum[r][0]);
          sum[r][1] = hn::MulAdd(w, x1, sum[r][1]);
          sum[r][2] = hn::MulAdd(w, x2, sum[r][2]);
        }
      }
    }
    for (std::int64_t r = 0; r < rings; ++r) {
      for (std::int64_t v = 0; v < vectors; ++v)
        hn::StoreU(sum[r][v], d, out + r * width + p + v * n);
    }
  }
}

HWY_NOINLINE stencil::Sums<double> sums_double() { return {together<double>, &sum_taps<double>}; }
HWY_NOINLINE stencil::Sums<float> sums_float() { return {together<float>, &sum_taps<float>}; }

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(sums_double);
HWY_EXPORT(sums_float);

namespace stencil {

template <>
Sums<double> sums() noexcept {
  return HWY_DYNAMIC_DISPATCH(sums_double)();
}
template <>
Sums<float> sums() noexcept {
  return HWY_DYNAMIC_DISPATCH(sums_float)();
}

}  // namespace stencil
}  // namespace ringweave::detail::inline convolve
#endif
