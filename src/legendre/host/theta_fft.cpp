// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/theta_fft.hpp"

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/theta_fft.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "base/simd/butterfly-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::columns::HWY_NAMESPACE {

using namespace ringweave::detail::HWY_NAMESPACE;
using Stage = ThetaFft::Stage;
using Stages = ThetaFft::Stages;

enum class FftDirection { transform, transpose };

// Runs of this many rows (24 KiB) stay in the L1 cache through all their stages.
constexpr std::int64_t cached_rows = 192;

struct PlainRows {
  double* rows;
  HWY_INLINE ComplexLanes read(std::int64_t row, std::int64_t lane) const {
    return load(rows + row * row_size + lane, width);
  }
  HWY_INLINE void write(ComplexLanes x, std::int64_t row, std::int64_t lane) const {
    store(x, rows + row * row_size + lane, width);
  }
};

struct FoldedRows {
  Folded x;
  std::int64_t length;
  HWY_INLINE bool is_mirrored(std::int64_t row) const { return 2 * row >= length; }
  HWY_INLINE double* sample(std::int64_t row) const {
    return x.samples + (is_mirrored(row) ? 2 * length - 1 - 2 * row : 2 * row) * row_size;
  }
  HWY_INLINE ComplexLanes signed_value(ComplexLanes value, std::int64_t row,
                                       std::int64_t lane) const {
    return is_mirrored(row) ? scaled(value, hn::LoadU(D(), x.parity + lane)) : value;
  }
  HWY_INLINE ComplexLanes read(std::int64_t row, std::int64_t lane) const {
    return signed_value(load(sample(row) + lane, width), row, lane);
  }
  HWY_INLINE void write(ComplexLanes value, std::int64_t row, std::int64_t lane) const {
    store(signed_value(value, row, lane), sample(row) + lane, width);
  }
};

/// Computes x_q *= twiddle_q for q = 1..Radix - 1.
template <int Radix>
HWY_INLINE void multiply(const Complex* HWY_RESTRICT twiddles, ComplexLanes* x) {
#pragma GCC unroll 8
  for (int q = 1; q < Radix; ++q) x[q] = product(x[q], broadcast(twiddles[q - 1]));
}

/// Applies one stage to `blocks` consecutive runs. The transpose multiplies by the twiddles first.
template <int Radix, FftDirection To, class In, class Out>
HWY_NOINLINE void run_stage(const Stage& stage, const Complex* all_twiddles, std::int64_t blocks,
                            In in, Out out) {
  const std::int64_t part = stage.part;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Complex* HWY_RESTRICT twiddles = all_twiddles + stage.twiddles;
    for (std::int64_t row = block * stage.length; row < block * stage.length + part;
         ++row, twiddles += Radix - 1) {
      for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
        ComplexLanes x[std::size_t{Radix}];
#pragma GCC unroll 8
        for (int q = 0; q < Radix; ++q) x[q] = in.read(row + q * part, lane);
        if (To == FftDirection::transpose && part > 1) multiply<Radix>(twiddles, x);
        butterfly<Radix, Sign::minus>(x);
        if (To == FftDirection::transform && part > 1) multiply<Radix>(twiddles, x);
#pragma GCC unroll 8
        for (int q = 0; q < Radix; ++q) out.write(x[q], row + q * part, lane);
      }
    }
  }
}

template <FftDirection To, class In, class Out>
void run_stage(const Stage& stage, const Complex* twiddles, std::int64_t blocks, In in, Out out) {
  switch (stage.radix) {
    case 2: return run_stage<2, To>(stage, twiddles, blocks, in, out);
    case 3: return run_stage<3, To>(stage, twiddles, blocks, in, out);
    case 4: return run_stage<4, To>(stage, twiddles, blocks, in, out);
    case 5: return run_stage<5, To>(stage, twiddles, blocks, in, out);
    default: return run_stage<7, To>(stage, twiddles, blocks, in, out);
  }
}

/// Applies the stages of one run in place: stage by stage over all runs if they fit in the cache,
/// otherwise run by run.
template <FftDirection To>
void run_stages(Stages stages, double* rows) {
  if (stages.begin == stages.end) return;
  const std::int64_t length = stages.begin->length;
  const PlainRows plain{rows};
  if (length <= cached_rows) {
    if (To == FftDirection::transform) {
      for (const Stage* stage = stages.begin; stage != stages.end; ++stage) {
        run_stage<To>(*stage, stages.twiddles, length / stage->length, plain, plain);
      }
    } else {
      for (const Stage* stage = stages.end; stage-- != stages.begin;) {
        run_stage<To>(*stage, stages.twiddles, length / stage->length, plain, plain);
      }
    }
    return;
  }
  const Stage& first = *stages.begin;
  const Stages rest{stages.begin + 1, stages.end, stages.twiddles};
  if (To == FftDirection::transform) run_stage<To>(first, stages.twiddles, 1, plain, plain);
  for (std::int64_t q = 0; q < first.radix; ++q) {
    run_stages<To>(rest, rows + q * first.part * row_size);
  }
  if (To == FftDirection::transpose) run_stage<To>(first, stages.twiddles, 1, plain, plain);
}

void transform(Stages stages, double* rows) { run_stages<FftDirection::transform>(stages, rows); }
void transpose(Stages stages, double* rows) { run_stages<FftDirection::transpose>(stages, rows); }

void transform_folded(Stages stages, Folded x, double* rows) {
  const Stage& first = *stages.begin;
  run_stage<FftDirection::transform>(first, stages.twiddles, 1, FoldedRows{x, first.length},
                                     PlainRows{rows});
  for (std::int64_t q = 0; q < first.radix; ++q) {
    transform({stages.begin + 1, stages.end, stages.twiddles}, rows + q * first.part * row_size);
  }
}

void transpose_folded(Stages stages, double* rows, Folded x) {
  const Stage& first = *stages.begin;
  for (std::int64_t q = 0; q < first.radix; ++q) {
    transpose({stages.begin + 1, stages.end, stages.twiddles}, rows + q * first.part * row_size);
  }
  run_stage<FftDirection::transpose>(first, stages.twiddles, 1, PlainRows{rows},
                                     FoldedRows{x, first.length});
}

}  // namespace ringweave::detail::inline legendre::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "legendre/shared/resampled_modes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline legendre::columns {
namespace {

HWY_EXPORT(transform);
HWY_EXPORT(transpose);
HWY_EXPORT(transform_folded);
HWY_EXPORT(transpose_folded);

/// Large radices first: they have the most twiddles, and the last stage needs none.
std::vector<int> factors(std::int64_t length) {
  std::vector<int> found;
  for (const int radix : {7, 5, 3, 4, 2}) {
    for (; length % radix == 0; length /= radix) found.push_back(radix);
  }
  return found;
}

}  // namespace

ThetaFft::ThetaFft(std::int64_t length) : length_(length), positions_(1, 0) {
  if (length < 2 || !has_theta_fft(length)) {
    throw InternalError("FFT of columns of length " + std::to_string(length) +
                        "; expected 2 or more, with factors 2, 3, 5 and 7 only");
  }
  std::int64_t rest = length;
  for (const int radix : factors(length)) {
    const std::int64_t part = rest / radix;
    stages_.push_back({radix, rest, part, ssize64(twiddles_)});
    for (std::int64_t j = 0; j < part; ++j) {
      for (int q = 1; q < radix; ++q) {
        const long double angle = 2 * std::numbers::pi_v<long double> *
                                  static_cast<long double>(j * q) / static_cast<long double>(rest);
        twiddles_.emplace_back(static_cast<double>(std::cos(angle)),
                               static_cast<double>(-std::sin(angle)));
      }
    }
    rest = part;
  }
  // y_(radix k + q) is in part q, at the position of k in the transform of that part.
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    std::vector<std::int64_t> longer(to_size(stage->length));
    for (std::int64_t k = 0; k < stage->length; ++k) {
      longer[to_size(k)] = k % stage->radix * stage->part + positions_[to_size(k / stage->radix)];
    }
    positions_ = std::move(longer);
  }
}

std::int64_t ThetaFft::bytes() const { return 16 * ssize64(twiddles_) + 8 * ssize64(positions_); }

void ThetaFft::transform(double* rows) const noexcept {
  HWY_DYNAMIC_DISPATCH(transform)(stages(), rows);
}
void ThetaFft::transform(Folded x, double* rows) const noexcept {
  HWY_DYNAMIC_DISPATCH(transform_folded)(stages(), x, rows);
}
void ThetaFft::transpose(double* rows) const noexcept {
  HWY_DYNAMIC_DISPATCH(transpose)(stages(), rows);
}
void ThetaFft::transpose(double* rows, Folded x) const noexcept {
  HWY_DYNAMIC_DISPATCH(transpose_folded)(stages(), rows, x);
}

}  // namespace ringweave::detail::inline legendre::columns
#endif
