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

HWY_NOINLINE void sum_taps_double(std::span<const stencil::Taps> taps, const double* weights,
                                  const double* const* sources, std::int64_t width, double* out) {
  sum_taps(taps, weights, sources, width, out);
}
HWY_NOINLINE void sum_taps_float(std::span<const stencil::Taps> taps, const float* weights,
                                 const float* const* sources, std::int64_t width, float* out) {
  sum_taps(taps, weights, sources, width, out);
}
HWY_NOINLINE std::int64_t together_double() { return together<double>; }
HWY_NOINLINE std::int64_t together_float() { return together<float>; }

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(sum_taps_double);
HWY_EXPORT(sum_taps_float);
HWY_EXPORT(together_double);
HWY_EXPORT(together_float);

namespace stencil {

template <>
std::int64_t pixels_together<double>() noexcept {
  return HWY_DYNAMIC_DISPATCH(together_double)();
}
template <>
std::int64_t pixels_together<float>() noexcept {
  return HWY_DYNAMIC_DISPATCH(together_float)();
}

template <>
void sum(std::span<const Taps> taps, const double* weights, const double* const* sources,
         std::int64_t width, double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(sum_taps_double)(taps, weights, sources, width, out);
}
template <>
void sum(std::span<const Taps> taps, const float* weights, const float* const* sources,
         std::int64_t width, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(sum_taps_float)(taps, weights, sources, width, out);
}

}  // namespace stencil
}  // namespace ringweave::detail::inline convolve
#endif
