// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolve/ring/host/sector_sum.cpp"
#include "convolve/ring/host/sector_sum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/simd/instruction_sets.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::int64_t n_vector = static_cast<std::int64_t>(hn::MaxLanes(D()));
constexpr std::int64_t together = sector::pixels_together;

/// Returns 2 (pixel + offset) n_in - 2 offset_in n_out for pixels from `pixel` on.
HWY_INLINE V numerators(const sector::Pair& pair, std::int64_t pixel) {
  const D d;
  const V twice = hn::Iota(d, 0.0);
  const V out = hn::MulAdd(hn::Add(twice, hn::Set(d, static_cast<double>(pixel))), hn::Set(d, 2.0),
                           hn::Set(d, pair.twice_offset_out));
  return hn::MulSub(out, hn::Set(d, pair.n_in), hn::Set(d, pair.twice_offset_in * pair.n_out));
}

HWY_NOINLINE void find_window(const sector::Pair& pair, std::int64_t pixel,
                              sector::Window* window) {
  const D d;
  const hn::RebindToSigned<D> di;
  const bool is_whole = pair.half_width >= std::numbers::pi;
  // In input pixels. A tap too many contributes zero; one too few is an error.
  const double per_pixel = 1 / (2 * pair.n_out);
  constexpr double generous = 1e-9;
  const double reach = pair.half_width / (2 * pair.n_out * pair.unit) + generous;
  V most = hn::Zero(d);
  for (std::int64_t i = 0; i < together; i += n_vector) {
    const V middle = hn::Mul(numerators(pair, pixel + i), hn::Set(d, per_pixel));
    const V first = hn::Ceil(hn::Sub(middle, hn::Set(d, reach)));
    const V last = hn::Floor(hn::Add(middle, hn::Set(d, reach)));
    most = hn::Max(most, hn::Sub(last, first));
    hn::StoreU(hn::ConvertTo(di, first), di, window->first.data() + i);
  }
  const double taps = hn::GetLane(hn::MaxOfLanes(d, most)) + 1;
  window->n_taps = static_cast<std::int64_t>(is_whole ? pair.n_in : std::min(taps, pair.n_in));
}

/// Evaluates powers of v for several vectors at once.
template <std::size_t N>
HWY_INLINE void power_series(const sector::Pair& pair, const V* v, V* result) {
  const D d;
  const V last = hn::Set(d, pair.coefficients[pair.n_coefficients - 1]);
  for (std::size_t i = 0; i < N; ++i) result[i] = last;
  for (std::int64_t k = pair.n_coefficients - 2; k >= 0; --k) {
    const V c = hn::Set(d, pair.coefficients[k]);
    for (std::size_t i = 0; i < N; ++i) result[i] = hn::MulAdd(result[i], v[i], c);
  }
}

/// Evaluates a Chebyshev series at v in [-1, 1] for several vectors at once.
template <std::size_t N>
HWY_INLINE void series(const sector::Pair& pair, const V* v, V* result) {
  const D d;
  V twice[N];
  V b1[N];
  V b2[N];
  for (std::size_t i = 0; i < N; ++i) {
    twice[i] = hn::Add(v[i], v[i]);
    b1[i] = hn::Zero(d);
    b2[i] = hn::Zero(d);
  }
  for (std::int64_t k = pair.n_coefficients - 1; k > 0; --k) {
    const V c = hn::Set(d, pair.coefficients[k]);
    for (std::size_t i = 0; i < N; ++i) {
      const V b = hn::MulAdd(twice[i], b1[i], hn::Sub(c, b2[i]));
      b2[i] = b1[i];
      b1[i] = b;
    }
  }
  const V c0 = hn::Set(d, pair.coefficients[0]);
  for (std::size_t i = 0; i < N; ++i) result[i] = hn::MulAdd(v[i], b1[i], hn::Sub(c0, b2[i]));
}

template <std::size_t N>
HWY_INLINE void evaluate_taps(const sector::Pair& pair, V numerator, std::int64_t tap,
                              double* values) {
  const D d;
  const bool is_whole = pair.half_width >= std::numbers::pi;
  const double edge = pair.half_width * pair.half_width;
  V square[N];
  V v[N];
  V value[N];
  for (std::size_t i = 0; i < N; ++i) {
    const V phi = hn::Mul(
        hn::NegMulAdd(hn::Set(d, 2 * static_cast<double>(tap + static_cast<std::int64_t>(i))),
                      hn::Set(d, pair.n_out), numerator),
        hn::Set(d, pair.unit));
    square[i] = hn::Mul(phi, phi);
    v[i] = hn::MulAdd(square[i], hn::Set(d, 2 / edge), hn::Set(d, -1.0));
  }
  if (pair.is_monomial) {
    power_series<N>(pair, v, value);
  } else {
    series<N>(pair, v, value);
  }
  for (std::size_t i = 0; i < N; ++i) {
    const V kept =
        is_whole ? value[i] : hn::IfThenElseZero(hn::Le(square[i], hn::Set(d, edge)), value[i]);
    hn::StoreU(kept, d, values + static_cast<std::int64_t>(i) * together);
  }
}

HWY_NOINLINE void kernel_values(const sector::Pair& pair, std::int64_t pixel,
                                const sector::Window& window, std::int64_t begin, std::int64_t end,
                                double* values) {
  const D d;
  const hn::RebindToSigned<D> di;
  // Enough to hide the latency of the series.
  constexpr std::int64_t chains = 8;
  for (std::int64_t i = 0; i < together; i += n_vector) {
    const V first = hn::ConvertTo(d, hn::LoadU(di, window.first.data() + i));
    const V numerator =
        hn::NegMulAdd(first, hn::Set(d, 2 * pair.n_out), numerators(pair, pixel + i));
    std::int64_t tap = begin;
    for (; tap + chains <= end; tap += chains)
      evaluate_taps<chains>(pair, numerator, tap, values + (tap - begin) * together + i);
    for (; tap + 4 <= end; tap += 4)
      evaluate_taps<4>(pair, numerator, tap, values + (tap - begin) * together + i);
    for (; tap + 2 <= end; tap += 2)
      evaluate_taps<2>(pair, numerator, tap, values + (tap - begin) * together + i);
    for (; tap < end; ++tap)
      evaluate_taps<1>(pair, numerator, tap, values + (tap - begin) * together + i);
  }
}

/// Output pixels whose sums stay in registers together.
constexpr std::int64_t in_registers = n_vector >= 8 ? 4 : 2;
constexpr std::int64_t parts_of_lanes = sector::lanes / n_vector;

template <bool with_mirrors>
HWY_INLINE void add_pixels(std::span<const sector::Part> parts, std::int64_t pixel,
                           std::int64_t lane, std::int64_t n_lanes, double* sums) {
  const D d;
  V direct[in_registers][parts_of_lanes];
  V mirrored[in_registers][parts_of_lanes];
  for (std::int64_t i = 0; i < in_registers; ++i) {
    for (std::int64_t v = 0; v < parts_of_lanes; ++v) {
      const double* from = sums + (pixel + i) * 2 * n_lanes + lane + v * n_vector;
      direct[i][v] = hn::LoadU(d, from);
      mirrored[i][v] = hn::LoadU(d, from + n_lanes);
    }
  }
  for (const sector::Part& part : parts) {
    const double* value = part.values + pixel;
    const double* at[in_registers];
    const double* mirror_at[in_registers];
    for (std::int64_t i = 0; i < in_registers; ++i) {
      const std::int64_t first =
          part.window.first[static_cast<std::size_t>(pixel + i)] + part.begin;
      at[i] = part.pair->row + first * n_lanes + lane;
      mirror_at[i] = part.pair->row + (part.pair->mirror - first) * n_lanes + lane;
    }
    for (std::int64_t tap = part.begin; tap < part.end; ++tap, value += together) {
      for (std::int64_t i = 0; i < in_registers; ++i) {
        const V weight = hn::Set(d, value[i]);
        for (std::int64_t v = 0; v < parts_of_lanes; ++v) {
          direct[i][v] = hn::MulAdd(weight, hn::LoadU(d, at[i] + v * n_vector), direct[i][v]);
          if constexpr (with_mirrors) {
            mirrored[i][v] =
                hn::MulAdd(weight, hn::LoadU(d, mirror_at[i] + v * n_vector), mirrored[i][v]);
          }
        }
        at[i] += n_lanes;
        if constexpr (with_mirrors) mirror_at[i] -= n_lanes;
      }
    }
  }
  for (std::int64_t i = 0; i < in_registers; ++i) {
    for (std::int64_t v = 0; v < parts_of_lanes; ++v) {
      double* to = sums + (pixel + i) * 2 * n_lanes + lane + v * n_vector;
      hn::StoreU(direct[i][v], d, to);
      hn::StoreU(mirrored[i][v], d, to + n_lanes);
    }
  }
}

HWY_NOINLINE void add_parts(std::span<const sector::Part> parts, std::int64_t n_lanes,
                            bool with_mirrors, double* sums) {
  for (std::int64_t lane = 0; lane < n_lanes; lane += sector::lanes) {
    for (std::int64_t pixel = 0; pixel < together; pixel += in_registers) {
      if (with_mirrors) {
        add_pixels<true>(parts, pixel, lane, n_lanes, sums);
      } else {
        add_pixels<false>(parts, pixel, lane, n_lanes, sums);
      }
    }
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(find_window);
HWY_EXPORT(kernel_values);
HWY_EXPORT(add_parts);

namespace sector {

Window place(const Pair& pair, std::int64_t pixel) noexcept {
  Window window;
  HWY_DYNAMIC_DISPATCH(find_window)(pair, pixel, &window);
  return window;
}

void evaluate(const Pair& pair, std::int64_t pixel, const Window& window, std::int64_t begin,
              std::int64_t end, double* values) noexcept {
  HWY_DYNAMIC_DISPATCH(kernel_values)(pair, pixel, window, begin, end, values);
}

double longitude(const Pair& pair, std::int64_t pixel, std::int64_t input) noexcept {
  const double out = 2 * static_cast<double>(pixel) + pair.twice_offset_out;
  const double in = 2 * static_cast<double>(input) + pair.twice_offset_in;
  return std::fma(out, pair.n_in, -in * pair.n_out) * pair.unit;
}

void add(std::span<const Part> parts, std::int64_t n_lanes, bool with_mirrors,
         double* sums) noexcept {
  HWY_DYNAMIC_DISPATCH(add_parts)(parts, n_lanes, with_mirrors, sums);
}

}  // namespace sector
}  // namespace ringweave::detail::inline convolve
#endif
