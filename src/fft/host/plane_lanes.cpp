// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/plane_lanes.hpp"

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/plane_lanes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "fft/lane_fft-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

using plane_lanes::Multiplied;
using plane_lanes::MultiplierRows;

std::int64_t lanes_of_planes() { return n_lanes; }

double* transform_strip(const LaneTransform& fft, double* data, double* other) {
  return backward_fft(data, other, fft.turns.data(), fft.length, fft.radices).first;
}

/// Multipliers of the numbers of a strip in one row: of p, and of its partner x_length - p.
struct StripRow {
  V direct;
  V partner;
};

template <bool has_partner>
HWY_INLINE StripRow read_row(const Multiplied& plane, const MultiplierRows& multiplier,
                             std::int64_t q, std::int64_t first) {
  const double* const row = multiplier.values + q * multiplier.apart;
  const double* const strip = row + (first - multiplier.begin);
  // The first strip has number 0, which is its own partner; the last one may have fewer numbers.
  if (first > 0 && first + n_lanes <= plane.n_numbers) {
    const V direct = hn::LoadU(D(), strip);
    if constexpr (!has_partner) return {direct, direct};
    const double* last_partner = row + plane.x_length - first - (n_lanes - 1);
    return {direct, hn::Reverse(D(), hn::LoadU(D(), last_partner))};
  }
  HWY_ALIGN double direct[n_lanes] = {};
  HWY_ALIGN double partner[n_lanes] = {};
  for (std::int64_t c = 0; c < n_lanes && first + c < plane.n_numbers; ++c) {
    const std::int64_t p = first + c;
    direct[c] = strip[c];
    if constexpr (has_partner) partner[c] = row[p == 0 ? 0 : plane.x_length - p];
  }
  return {hn::Load(D(), direct), hn::Load(D(), partner)};
}

/// Factors of a pair of numbers along y: see multiplied().
struct PairFactors {
  V same;
  V mirrored;
  V turned;
  V turned_mirrored;
};

/// row, other  multipliers of a number and of its partner along y
template <bool x_cosine, bool y_cosine>
HWY_INLINE PairFactors factors_of(const StripRow& row, const StripRow& other, V weight) {
  const V zeros = hn::Zero(D());
  const V a = hn::Mul(weight, row.direct);
  const V b = x_cosine ? hn::Mul(weight, row.partner) : zeros;
  if constexpr (!y_cosine) return {hn::Add(a, b), hn::Sub(a, b), zeros, zeros};
  const V other_a = hn::Mul(weight, other.direct);
  const V other_b = x_cosine ? hn::Mul(weight, other.partner) : zeros;
  const V sum_a = hn::Add(a, other_a);
  const V sum_b = hn::Add(b, other_b);
  const V gap_a = hn::Sub(a, other_a);
  const V gap_b = hn::Sub(b, other_b);
  return {hn::Add(sum_a, sum_b), hn::Sub(sum_a, sum_b), hn::Add(gap_a, gap_b),
          hn::Sub(gap_a, gap_b)};
}

/// Returns the multiplied number `here`, whose partner along y is `there`.
template <bool x_cosine, bool y_cosine>
HWY_INLINE ComplexLanes multiplied(const PairFactors& factors, ComplexLanes here,
                                   ComplexLanes there, ComplexLanes x_turn, ComplexLanes y_turn) {
  ComplexLanes result = scaled(here, factors.same);
  if constexpr (x_cosine) result = result + conj_product(there, scaled(x_turn, factors.mirrored));
  if constexpr (y_cosine) {
    ComplexLanes turned = scaled(there, factors.turned);
    if constexpr (x_cosine)
      turned = turned + conj_product(here, scaled(x_turn, factors.turned_mirrored));
    result = result + product(y_turn, turned);
  }
  return result;
}

template <bool x_cosine, bool y_cosine, bool adds>
void multiply_strip(const Multiplied& plane, const MultiplierRows& multiplier, double weight,
                    std::int64_t first, const double* spectrum, double* sum) {
  const V scale = broadcast(weight * (x_cosine ? 0.5 : 1.0) * (y_cosine ? 0.5 : 1.0));
  const ComplexLanes x_turn = x_cosine ? load_interleaved(plane.x_turns + first) : zero();
  for (std::int64_t q = 0; q <= plane.y_length / 2; ++q) {
    const std::int64_t partner = q == 0 ? 0 : plane.y_length - q;
    const StripRow row = read_row<x_cosine>(plane, multiplier, q, first);
    const StripRow other = y_cosine ? read_row<x_cosine>(plane, multiplier, partner, first) : row;
    const auto factors = factors_of<x_cosine, y_cosine>(row, other, scale);
    const ComplexLanes y_turn = y_cosine ? broadcast(plane.y_turns[q]) : zero();
    const ComplexLanes a = load(spectrum + q * element);
    const ComplexLanes b = load(spectrum + partner * element);
    ComplexLanes new_a = multiplied<x_cosine, y_cosine>(factors, a, b, x_turn, y_turn);
    ComplexLanes new_b = multiplied<x_cosine, y_cosine>(factors, b, a, x_turn, conjugate(y_turn));
    // Both sums are read before one is written: a number may be its own partner.
    if constexpr (adds) {
      new_a = new_a + load(sum + q * element);
      new_b = new_b + load(sum + partner * element);
    }
    store(new_a, sum + q * element);
    store(new_b, sum + partner * element);
  }
}

template <bool x_cosine, bool y_cosine>
void multiply_or_add(const Multiplied& plane, const MultiplierRows& multiplier, double weight,
                     std::int64_t first, const double* spectrum, double* sum, Accumulate how) {
  if (how == Accumulate::add) {
    multiply_strip<x_cosine, y_cosine, true>(plane, multiplier, weight, first, spectrum, sum);
  } else {
    multiply_strip<x_cosine, y_cosine, false>(plane, multiplier, weight, first, spectrum, sum);
  }
}

void multiply_of_series(const Multiplied& plane, const MultiplierRows& multiplier, double weight,
                        std::int64_t first, const double* spectrum, double* sum, Accumulate how) {
  const bool x_cosine = plane.x_turns != nullptr;
  const bool y_cosine = plane.y_turns != nullptr;
  if (x_cosine && y_cosine) {
    multiply_or_add<true, true>(plane, multiplier, weight, first, spectrum, sum, how);
  } else if (x_cosine) {
    multiply_or_add<true, false>(plane, multiplier, weight, first, spectrum, sum, how);
  } else if (y_cosine) {
    multiply_or_add<false, true>(plane, multiplier, weight, first, spectrum, sum, how);
  } else {
    multiply_or_add<false, false>(plane, multiplier, weight, first, spectrum, sum, how);
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft {

HWY_EXPORT(lanes_of_planes);
HWY_EXPORT(transform_strip);
HWY_EXPORT(multiply_of_series);

std::int64_t plane_lanes::width() noexcept { return HWY_DYNAMIC_DISPATCH(lanes_of_planes)(); }

double* plane_lanes::transform(const LaneTransform& fft, double* data, double* other) noexcept {
  return HWY_DYNAMIC_DISPATCH(transform_strip)(fft, data, other);
}

void plane_lanes::multiply(const Multiplied& plane, const MultiplierRows& multiplier, double weight,
                           std::int64_t first, const double* spectrum, double* sum,
                           Accumulate how) noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_of_series)
  (plane, multiplier, weight, first, spectrum, sum, how);
}

}  // namespace ringweave::detail::inline fft
#endif  // HWY_ONCE
