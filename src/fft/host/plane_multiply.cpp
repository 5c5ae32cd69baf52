// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/plane_multiply.hpp"

#include <algorithm>
#include <numbers>

#include "base/simd/instruction_sets.hpp"
#include "fft/host/plane_ffts.hpp"
#include "fft/unit_powers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/plane_multiply.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "base/simd/complex_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

/// Multipliers of the numbers of a strip, of one row: of p, and of its partner x_length - p.
struct StripRow {
  double direct[strip_width];
  double partner[strip_width];
};

template <bool has_partner>
HWY_INLINE void read_row(const StripMultiplier::Plane& plane, const double* row, std::int64_t first,
                         StripRow& values) {
  // The first strip has number 0, which is its own partner, the last one may have fewer numbers.
  if (first > 0 && first + strip_width <= plane.n_numbers) {
    const double* partner = row + plane.x_length - first;
    for (std::int64_t c = 0; c < strip_width; ++c) {
      values.direct[c] = row[first + c];
      if constexpr (has_partner) values.partner[c] = partner[-c];
    }
    return;
  }
  for (std::int64_t c = 0; c < strip_width; ++c) {
    const std::int64_t p = first + c;
    const bool exists = p < plane.n_numbers;
    values.direct[c] = exists ? row[p] : 0;
    if constexpr (has_partner)
      values.partner[c] = exists ? row[p == 0 ? 0 : plane.x_length - p] : 0;
  }
}

/// Factors of a pair of numbers: see multiply_pair().
struct PairFactors {
  V same;
  V mirrored;
  V turned;
  V turned_mirrored;
};

template <bool x_cosine, bool y_cosine>
HWY_INLINE PairFactors factors_of(const StripRow& row, const StripRow& other, std::int64_t c,
                                  V weight) {
  const V zeros = hn::Zero(D());
  const V a = hn::Mul(weight, hn::LoadU(D(), row.direct + c));
  if constexpr (!x_cosine && !y_cosine) return {a, zeros, zeros, zeros};
  V sum_a = a;
  V gap_a = zeros;
  if constexpr (y_cosine) {
    const V other_a = hn::Mul(weight, hn::LoadU(D(), other.direct + c));
    sum_a = hn::Add(a, other_a);
    gap_a = hn::Sub(a, other_a);
  }
  if constexpr (!x_cosine) return {sum_a, zeros, gap_a, zeros};
  const V b = hn::Mul(weight, hn::LoadU(D(), row.partner + c));
  V sum_b = b;
  V gap_b = zeros;
  if constexpr (y_cosine) {
    const V other_b = hn::Mul(weight, hn::LoadU(D(), other.partner + c));
    sum_b = hn::Add(b, other_b);
    gap_b = hn::Sub(b, other_b);
  }
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
void multiply_strip(const StripMultiplier::Plane& plane, const double* multiplier, double weight,
                    std::int64_t strip, const Complex* spectrum, Complex* sum) {
  const std::int64_t first = strip * strip_width;
  const V scale = broadcast(weight * (x_cosine ? 0.5 : 1.0) * (y_cosine ? 0.5 : 1.0));
  StripRow row;
  StripRow other{};
  for (std::int64_t q = 0; q <= plane.y_length / 2; ++q) {
    const std::int64_t partner = q == 0 ? 0 : plane.y_length - q;
    read_row<x_cosine>(plane, multiplier + q * plane.n_frequencies, first, row);
    if constexpr (y_cosine)
      read_row<x_cosine>(plane, multiplier + partner * plane.n_frequencies, first, other);
    const ComplexLanes y_turn = y_cosine ? broadcast(plane.y_turns[q]) : zero();
    for (std::int64_t c = 0; c < strip_width; c += n_lanes) {
      const std::int64_t at = q * strip_width + c;
      const std::int64_t at_partner = partner * strip_width + c;
      const ComplexLanes a = load_interleaved(spectrum + at);
      const ComplexLanes b = load_interleaved(spectrum + at_partner);
      const ComplexLanes x_turn = x_cosine ? load_interleaved(plane.x_turns + first + c) : zero();
      const auto factors = factors_of<x_cosine, y_cosine>(row, other, c, scale);
      ComplexLanes new_a = multiplied<x_cosine, y_cosine>(factors, a, b, x_turn, y_turn);
      ComplexLanes new_b = multiplied<x_cosine, y_cosine>(factors, b, a, x_turn, conjugate(y_turn));
      // Both sums are read before one is written: a number may be its own partner.
      if constexpr (adds) {
        new_a = new_a + load_interleaved(sum + at);
        new_b = new_b + load_interleaved(sum + at_partner);
      }
      store_interleaved(new_a, sum + at);
      store_interleaved(new_b, sum + at_partner);
    }
  }
}

template <bool x_cosine, bool y_cosine>
void multiply_or_add(const StripMultiplier::Plane& plane, const double* multiplier, double weight,
                     std::int64_t strip, const Complex* spectrum, Complex* sum, Accumulate how) {
  if (how == Accumulate::add) {
    multiply_strip<x_cosine, y_cosine, true>(plane, multiplier, weight, strip, spectrum, sum);
  } else {
    multiply_strip<x_cosine, y_cosine, false>(plane, multiplier, weight, strip, spectrum, sum);
  }
}

void multiply_of_series(const StripMultiplier::Plane& plane, const double* multiplier,
                        double weight, std::int64_t strip, const Complex* spectrum, Complex* sum,
                        Accumulate how) {
  const bool x_cosine = plane.x_turns != nullptr;
  const bool y_cosine = plane.y_turns != nullptr;
  if (x_cosine && y_cosine) {
    multiply_or_add<true, true>(plane, multiplier, weight, strip, spectrum, sum, how);
  } else if (x_cosine) {
    multiply_or_add<true, false>(plane, multiplier, weight, strip, spectrum, sum, how);
  } else if (y_cosine) {
    multiply_or_add<false, true>(plane, multiplier, weight, strip, spectrum, sum, how);
  } else {
    multiply_or_add<false, false>(plane, multiplier, weight, strip, spectrum, sum, how);
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft {
namespace {

/// Returns exp(i pi k / length), k < count, of a cosine axis; else nothing.
HostBuffer<std::complex<double>> turns_of(const FilterAxis& axis, std::int64_t count) {
  if (axis.series == AxisSeries::fourier) return {};
  const auto angle = std::numbers::pi_v<long double> / static_cast<long double>(axis.length);
  HostBuffer<std::complex<double>> turns(count);
  UnitPowers({{angle, count}}).expand(0, count, turns.data());
  return turns;
}

}  // namespace

HWY_EXPORT(multiply_of_series);

StripMultiplier::StripMultiplier(const FilterAxis& x, const FilterAxis& y) {
  const std::int64_t n_numbers = x.length / 2 + 1;
  const std::int64_t n_strips = (n_numbers + strip_width - 1) / strip_width;
  x_turns_ = turns_of(x, n_strips * strip_width);
  y_turns_ = turns_of(y, y.length / 2 + 1);
  plane_ = {x.length, y.length, n_numbers, x.n_frequencies(), x_turns_.data(), y_turns_.data()};
}

void StripMultiplier::multiply(const double* multiplier, double weight, std::int64_t strip,
                               const std::complex<double>* spectrum, std::complex<double>* sum,
                               Accumulate how) const noexcept {
  HWY_DYNAMIC_DISPATCH(multiply_of_series)
  (plane_, multiplier, weight, strip, spectrum, sum, how);
}

}  // namespace ringweave::detail::inline fft
#endif  // HWY_ONCE
