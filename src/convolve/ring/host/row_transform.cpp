// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/row_transform.hpp"

#include <algorithm>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolve/ring/host/row_transform.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "fft/lane_fft-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

using row_transform::Job;
// As many as have their sums in registers.
constexpr std::int64_t pairs_together = 6;
constexpr std::int64_t row_vectors = n_lanes >= 8 ? 2 : 1;
constexpr std::int64_t couples = pairs_together / 2;
constexpr std::int64_t row_batch = couples * row_vectors;

/// Adds up the samples at r, r + points, ... times their factors, and stores the result for both
/// directions around the ring.
HWY_INLINE void fold_samples(const Job& job, std::int64_t from, std::int64_t order, std::int64_t r,
                             double* data) {
  const D d;
  const std::int64_t points = job.fft->length;
  V even[pairs_together][row_vectors];
  V odd[pairs_together][row_vectors];
#pragma GCC unroll 12
  for (std::int64_t p = 0; p < pairs_together; ++p) {
    for (std::int64_t v = 0; v < row_vectors; ++v) even[p][v] = odd[p][v] = hn::Zero(d);
  }
  for (std::int64_t j = r; j < job.tile->n_samples; j += points) {
    const double* sample = job.tile->samples + j * mode_sum::pairs + from;
    const double* factor = job.factors + j * RowTransform::factor_size + order;
    V re[row_vectors];
    V im[row_vectors];
    for (std::int64_t v = 0; v < row_vectors; ++v) {
      re[v] = hn::Load(d, factor + v * n_lanes);
      im[v] = hn::Load(d, factor + v * n_lanes + mode_sum::orders);
    }
#pragma GCC unroll 12
    for (std::int64_t p = 0; p < pairs_together; ++p) {
      const V value = hn::Set(d, sample[p]);
      for (std::int64_t v = 0; v < row_vectors; ++v) {
        even[p][v] = hn::MulAdd(value, re[v], even[p][v]);
        odd[p][v] = hn::MulAdd(value, im[v], odd[p][v]);
      }
    }
  }
  const std::int64_t across = job.half_turns != nullptr ? points - 1 - r : (points - r) % points;
  double* here = data + r * row_batch * element;
  double* there = data + across * row_batch * element;
#pragma GCC unroll 12
  for (std::int64_t c = 0; c < couples; ++c) {
    for (std::int64_t v = 0; v < row_vectors; ++v) {
      const ComplexLanes cosine{even[2 * c][v], even[2 * c + 1][v]};
      const ComplexLanes sine{odd[2 * c][v], odd[2 * c + 1][v]};
      store(load(here) + add_times_i(cosine, sine), here);
      store(load(there) + subtract_times_i(cosine, sine), there);
      here += element;
      there += element;
    }
  }
}

HWY_INLINE void write_rows(const Job& job, const double* found, std::int64_t from,
                           std::int64_t order) {
  const std::int64_t points = job.fft->length;
  for (std::int64_t k = 0; k < points; ++k) {
    double* row = job.rows + k * RowTransform::set_size + from * mode_sum::orders + order;
    for (std::int64_t c = 0; c < couples; ++c) {
      for (std::int64_t v = 0; v < row_vectors; ++v) {
        ComplexLanes value = load(found);
        if (job.half_turns != nullptr) value = product(broadcast(job.half_turns[k]), value);
        store(value, row + v * n_lanes, mode_sum::orders);
        found += element;
      }
      row += 2 * mode_sum::orders;
    }
  }
}

void transform_rows(const Job& job) {
  const std::int64_t points = job.fft->length;
  const std::int64_t size = points * row_batch * element;
  const std::int64_t n_folded = std::min(points, job.tile->n_samples);
  for (std::int64_t from = 0; from < mode_sum::pairs; from += pairs_together) {
    for (std::int64_t order = 0; order < mode_sum::orders; order += row_vectors * n_lanes) {
      std::fill_n(job.scratch, size, 0.0);
      for (std::int64_t r = 0; r < n_folded; ++r) fold_samples(job, from, order, r, job.scratch);
      const double* found = backward_fft(job.scratch, job.scratch + size, job.fft->turns.data(),
                                         points, job.fft->radices, row_batch)
                                .first;
      write_rows(job, found, from, order);
    }
  }
}

std::int64_t row_scratch_size(std::int64_t points) { return 2 * points * row_batch * element; }

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(transform_rows);
HWY_EXPORT(row_scratch_size);

namespace {

constexpr auto half_turn = std::numbers::pi_v<long double>;

}  // namespace

RowTransform::RowTransform(const RowFft& fft)
    : fft_(fft),
      transform_(fft.points),
      powers_({{half_turn / static_cast<long double>(fft.samples), 2 * fft.samples}}) {
  const UnitPowers turns({{half_turn / static_cast<long double>(fft.points), fft.points}});
  for (std::int64_t k = 0; k < fft.points; ++k)
    half_turns_.push_back(turns.value(0, k) * (2 * k < fft.points ? 1.0 : -1.0));
}

std::int64_t RowTransform::scratch_size() const {
  return HWY_DYNAMIC_DISPATCH(row_scratch_size)(fft_.points);
}

void RowTransform::find_factors(std::int64_t first_class, std::int64_t sample, std::int64_t half,
                                double* factors) const {
  const std::int64_t turn = 2 * fft_.samples;
  const std::int64_t step = (2 * sample + half) % turn;
  for (std::int64_t i = 0; i < mode_sum::orders; ++i) {
    const std::complex<double> value = powers_.value(0, (first_class + i) * step % turn);
    factors[i] = 0.5 * value.real();
    factors[i + mode_sum::orders] = 0.5 * value.imag();
  }
}

void RowTransform::run(const mode_sum::Tile& tile, bool half, const double* factors,
                       double* scratch, double* rows) const noexcept {
  HWY_DYNAMIC_DISPATCH(transform_rows)
  ({&tile, &transform_, half ? half_turns_.data() : nullptr, factors, scratch, rows});
}

}  // namespace ringweave::detail::inline convolve
#endif  // HWY_ONCE
