// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/lane_rings.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/lane_rings.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "fft/lane_fft-inl.hpp"
#include "fft/lane_turn-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

// Prefetch distance: rows are further apart than the hardware prefetcher follows; far enough ahead
// to cover main-memory latency.
constexpr std::int64_t orders_ahead = 24;

/// The modes of one vector of lanes are not aligned, so they touch three cache lines.
template <int for_writing>
HWY_INLINE void prefetch(const Complex* modes) {
  __builtin_prefetch(modes, for_writing);
  __builtin_prefetch(modes + n_lanes / 2, for_writing);
  __builtin_prefetch(modes + n_lanes - 1, for_writing);
}

HWY_INLINE ComplexLanes phase(const LaneRings& rings, std::int64_t m) {
  return product(load(rings.coarse_phases + m / lane_rings::n_fine_phases * element),
                 load(rings.fine_phases + m % lane_rings::n_fine_phases * element));
}

template <bool is_shifted>
HWY_INLINE ComplexLanes mode(const LaneRings& rings, const Complex* const* modes, std::int64_t m) {
  if (m + orders_ahead < rings.n_modes && modes[m + orders_ahead] != nullptr)
    prefetch<0>(modes[m + orders_ahead]);
  if (modes[m] == nullptr) return zero();
  const ComplexLanes value = load_interleaved(modes[m]);
  if constexpr (is_shifted) return product(value, phase(rings, m));
  return value;
}

template <bool is_shifted>
void fold_with(const LaneRings& rings, const Complex* const* modes) {
  const std::int64_t n = rings.n_phi;
  const std::int64_t half = n / 2;
  const std::int64_t n_direct = std::min(half + 1, rings.n_modes);
  const V zeros = hn::Zero(D());
  for (std::int64_t m = 0; m < n_direct; ++m)
    store(mode<is_shifted>(rings, modes, m), rings.bins + m * element);
  for (std::int64_t k = n_direct; k <= half; ++k) store(zero(), rings.bins + k * element);
  hn::Store(zeros, D(), rings.bins + n_lanes);
  for (std::int64_t m = half + 1; m < rings.n_modes; ++m) {
    const ComplexLanes value = mode<is_shifted>(rings, modes, m);
    const std::int64_t k = m % n;
    double* bin = rings.bins + (k <= half ? k : n - k) * element;
    if (k == 0) {
      hn::Store(hn::MulAdd(hn::Set(D(), 2.0), value.re, hn::Load(D(), bin)), D(), bin);
    } else {
      store(load(bin) + (k <= half ? value : conjugate(value)), bin);
    }
  }
  double* last = rings.bins + half * element;
  const V real = hn::Load(D(), last);
  store({hn::Add(real, real), zeros}, last);
}

/// Computes fold() of ring_spectrum.hpp in lanes, for even n_phi.
void fold_lanes(const LaneRings& rings, const Complex* const* modes) {
  if (rings.fine_phases == nullptr) {
    fold_with<false>(rings, modes);
  } else {
    fold_with<true>(rings, modes);
  }
}

template <bool is_shifted>
void unfold_with(const LaneRings& rings, const double* bins, Complex* const* modes) {
  const std::int64_t n = rings.n_phi;
  for (std::int64_t m = 0; m < rings.n_modes; ++m) {
    if (m + orders_ahead < rings.n_modes && modes[m + orders_ahead] != nullptr)
      prefetch<1>(modes[m + orders_ahead]);
    if (modes[m] == nullptr) continue;
    const std::int64_t k = m < n ? m : m % n;
    ComplexLanes value =
        k <= n / 2 ? load(bins + k * element) : conjugate(load(bins + (n - k) * element));
    if constexpr (is_shifted) value = conj_product(phase(rings, m), value);
    store_interleaved(value, modes[m]);
  }
}

/// Computes unfold() of ring_spectrum.hpp in lanes.
void unfold_lanes(const LaneRings& rings, const double* bins, Complex* const* modes) {
  if (rings.fine_phases == nullptr) {
    unfold_with<false>(rings, bins, modes);
  } else {
    unfold_with<true>(rings, bins, modes);
  }
}

/// Computes pack_even() of ring_spectrum.hpp in place of the bins.
void pack_lanes(const LaneRings& rings) {
  const std::int64_t half = rings.n_phi / 2;
  double* bins = rings.bins;
  const V first = hn::Load(D(), bins);
  const V last = hn::Load(D(), bins + half * element);
  store({hn::Add(first, last), hn::Sub(first, last)}, bins);
  for (std::int64_t k = 1; k <= half / 2; ++k) {
    const ComplexLanes direct = load(bins + k * element);
    const ComplexLanes mirrored = conjugate(load(bins + (half - k) * element));
    const ComplexLanes even = direct + mirrored;
    const ComplexLanes odd = times_i(product(broadcast(rings.roots[k]), direct - mirrored));
    store(even + odd, bins + k * element);
    store(conjugate(even - odd), bins + (half - k) * element);
  }
}

/// Computes unpack_even() of ring_spectrum.hpp in place of the transformed values.
void unpack_lanes(const LaneRings& rings, const double* weights, double* bins) {
  const std::int64_t half = rings.n_phi / 2;
  const V weight = hn::LoadU(D(), weights);
  const V half_weight = hn::Mul(weight, hn::Set(D(), 0.5));
  const V zeros = hn::Zero(D());
  const ComplexLanes first = load(bins);
  store({hn::Mul(weight, hn::Add(first.re, first.im)), zeros}, bins);
  store({hn::Mul(weight, hn::Sub(first.re, first.im)), zeros}, bins + half * element);
  for (std::int64_t k = 1; k <= half / 2; ++k) {
    const ComplexLanes direct = load(bins + (half - k) * element);
    const ComplexLanes mirrored = conjugate(load(bins + k * element));
    const ComplexLanes even = scaled(direct + mirrored, half_weight);
    const ComplexLanes odd =
        times_i(conj_product(broadcast(rings.roots[k]), scaled(mirrored - direct, half_weight)));
    store(even + odd, bins + k * element);
    store(conjugate(even - odd), bins + (half - k) * element);
  }
}

template <class T>
HWY_INLINE V load_pixels(const T* from) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), from));
  } else {
    return hn::LoadU(D(), from);
  }
}

template <class T>
HWY_INLINE void store_pixels(V value, T* to) {
  if constexpr (std::is_same_v<T, float>) {
    const hn::Rebind<float, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
  } else {
    hn::StoreU(value, D(), to);
  }
}

/// Writes rows of lanes to the pixels of each lane.
template <class T>
void write_pixels(const double* rows, std::int64_t n_phi, T* const* pixels) {
  std::int64_t j = 0;
  for (; j + n_lanes <= n_phi; j += n_lanes) {
    V v[n_lanes];
    for (std::int64_t i = 0; i < n_lanes; ++i) v[i] = hn::Load(D(), rows + (j + i) * n_lanes);
    turn<n_lanes>(D(), v);
    for (std::int64_t i = 0; i < n_lanes; ++i) store_pixels(v[i], pixels[i] + j);
  }
  for (; j < n_phi; ++j) {
    for (std::int64_t i = 0; i < n_lanes; ++i) pixels[i][j] = static_cast<T>(rows[j * n_lanes + i]);
  }
}

template <class T>
void read_pixels(const T* const* pixels, std::int64_t n_phi, double* rows) {
  std::int64_t j = 0;
  for (; j + n_lanes <= n_phi; j += n_lanes) {
    V v[n_lanes];
    for (std::int64_t i = 0; i < n_lanes; ++i) v[i] = load_pixels(pixels[i] + j);
    turn<n_lanes>(D(), v);
    for (std::int64_t i = 0; i < n_lanes; ++i) hn::Store(v[i], D(), rows + (j + i) * n_lanes);
  }
  for (; j < n_phi; ++j) {
    for (std::int64_t i = 0; i < n_lanes; ++i)
      rows[j * n_lanes + i] = static_cast<double>(pixels[i][j]);
  }
}

template <class T>
void synthesize_lanes(const LaneRings& rings, const Complex* const* modes, T* const* pixels) {
  fold_lanes(rings, modes);
  pack_lanes(rings);
  const auto [rows, free] =
      backward_fft(rings.bins, rings.scratch, rings.turns, rings.n_phi / 2, rings.radices);
  T* targets[n_lanes];
  for (std::int64_t i = 0; i < n_lanes; ++i)
    targets[i] = pixels[i] == nullptr ? reinterpret_cast<T*>(free) : pixels[i];
  write_pixels(rows, rings.n_phi, targets);
}

template <class T>
void adjoint_lanes(const LaneRings& rings, const T* const* pixels, const double* weights,
                   Complex* const* modes) {
  read_pixels(pixels, rings.n_phi, rings.bins);
  double* bins =
      backward_fft(rings.bins, rings.scratch, rings.turns, rings.n_phi / 2, rings.radices).first;
  unpack_lanes(rings, weights, bins);
  unfold_lanes(rings, bins, modes);
}

/// Rows 0 and 1 of a spectrum are its first and last bins, which are real; rows 2 k and 2 k + 1 are
/// the real and imaginary part of bin k.
template <class T>
void spectra_of_lanes(const LaneRings& rings, T* const* pixels) {
  const T* sources[n_lanes];
  for (std::int64_t i = 0; i < n_lanes; ++i)
    sources[i] = pixels[i] == nullptr ? pixels[0] : pixels[i];
  read_pixels(sources, rings.n_phi, rings.bins);
  const auto [bins, free] =
      backward_fft(rings.bins, rings.scratch, rings.turns, rings.n_phi / 2, rings.radices);
  double weights[n_lanes];
  std::fill_n(weights, n_lanes, 1.0 / static_cast<double>(rings.n_phi));
  unpack_lanes(rings, weights, bins);
  hn::Store(hn::Load(D(), bins + rings.n_phi / 2 * element), D(), bins + n_lanes);
  T* targets[n_lanes];
  for (std::int64_t i = 0; i < n_lanes; ++i)
    targets[i] = pixels[i] == nullptr ? reinterpret_cast<T*>(free) : pixels[i];
  write_pixels(bins, rings.n_phi, targets);
}

template <SpectrumOperator what>
HWY_INLINE V combined(const double* spectrum, const double* bin) {
  if constexpr (what == SpectrumOperator::adjoint_of_map) return hn::Load(D(), spectrum);
  if constexpr (what == SpectrumOperator::adjoint_of_synthesis) return hn::Load(D(), bin);
  return hn::Sub(hn::Load(D(), spectrum), hn::Load(D(), bin));
}

/// Computes bins from spectra, which are rows of lanes in scratch, and bins.
template <SpectrumOperator what>
void combine_lanes(const LaneRings& rings, const double* weights, double* squares) {
  const std::int64_t half = rings.n_phi / 2;
  const V n_phi = hn::Set(D(), static_cast<double>(rings.n_phi));
  const V weight = hn::Mul(n_phi, hn::LoadU(D(), weights));
  const double* spectra = rings.scratch;
  const V zeros = hn::Zero(D());
  double* last = rings.bins + half * element;
  const V first_value = combined<what>(spectra, rings.bins);
  const V last_value = combined<what>(spectra + n_lanes, last);
  store({hn::Mul(weight, first_value), zeros}, rings.bins);
  store({hn::Mul(weight, last_value), zeros}, last);
  V pairs = zeros;
  for (std::int64_t k = 1; k < half; ++k) {
    double* bin = rings.bins + k * element;
    const double* spectrum = spectra + k * element;
    const ComplexLanes value{combined<what>(spectrum, bin),
                             combined<what>(spectrum + n_lanes, bin + n_lanes)};
    pairs = hn::MulAdd(value.re, value.re, hn::MulAdd(value.im, value.im, pairs));
    store(scaled(value, weight), bin);
  }
  const V alone = hn::MulAdd(first_value, first_value, hn::Mul(last_value, last_value));
  const V of_bins = hn::MulAdd(hn::Set(D(), 2.0), pairs, alone);
  hn::StoreU(hn::Mul(n_phi, of_bins), D(), squares);
}

template <class T>
void apply_operator_lanes(SpectrumOperator what, const LaneRings& rings, const T* const* spectra,
                          const double* weights, Complex* const* modes, double* squares) {
  if (what != SpectrumOperator::adjoint_of_map) fold_lanes(rings, modes);
  if (what != SpectrumOperator::adjoint_of_synthesis)
    read_pixels(spectra, rings.n_phi, rings.scratch);
  switch (what) {
    case SpectrumOperator::adjoint_of_map:
      combine_lanes<SpectrumOperator::adjoint_of_map>(rings, weights, squares);
      break;
    case SpectrumOperator::adjoint_of_residual:
      combine_lanes<SpectrumOperator::adjoint_of_residual>(rings, weights, squares);
      break;
    case SpectrumOperator::adjoint_of_synthesis:
      combine_lanes<SpectrumOperator::adjoint_of_synthesis>(rings, weights, squares);
      break;
  }
  unfold_lanes(rings, rings.bins, modes);
}

template <class T>
LaneSteps<T> steps_in_lanes() {
  return {&synthesize_lanes<T>, &adjoint_lanes<T>, &spectra_of_lanes<T>, &apply_operator_lanes<T>};
}
LaneSteps<double> lane_steps_double() { return steps_in_lanes<double>(); }
LaneSteps<float> lane_steps_float() { return steps_in_lanes<float>(); }
std::int64_t lanes_of_target() { return n_lanes; }

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft {

HWY_EXPORT(lane_steps_double);
HWY_EXPORT(lane_steps_float);
HWY_EXPORT(lanes_of_target);

template <>
LaneSteps<double> lane_steps() noexcept {
  return HWY_DYNAMIC_DISPATCH(lane_steps_double)();
}
template <>
LaneSteps<float> lane_steps() noexcept {
  return HWY_DYNAMIC_DISPATCH(lane_steps_float)();
}

std::int64_t lane_rings::n_lanes() noexcept { return HWY_DYNAMIC_DISPATCH(lanes_of_target)(); }

}  // namespace ringweave::detail::inline fft
#endif  // HWY_ONCE
