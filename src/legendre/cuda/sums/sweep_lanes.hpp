// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "base/host_device.hpp"
#include "legendre/cuda/plan/sweep_shapes.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"

namespace ringweave::detail::gpu {

/// sin(theta)^power = value * 2^(800 scale).
struct SinePower {
  double value;
  int scale;
};
RINGWEAVE_HOST_DEVICE SinePower sine_power(double log2_high, double log2_low, int power) {
  const double product = power * log2_high;
  const double exponent = std::rint(product);
  const double fraction = power * log2_low + (product - exponent);
  const double scale = std::floor((exponent + tiny_bits) / scale_bits);
  const double rest = exponent - scale * scale_bits;
  return {std::ldexp(std::exp2(fraction), static_cast<int>(rest)), static_cast<int>(scale)};
}

/// Progress of a warp; the same in all its lanes.
enum class Phase { idle, below_range, partly_in_range, in_range };

/// Recurrences of the pairs of one thread, in registers. Scales are in shared memory with a stride
/// of block_threads per value, because they are needed only below range.
template <class S, int Pairs>
struct ThreadFunctions {
  static constexpr int values = S::functions * Pairs;  ///< [function][pair]
  static constexpr unsigned all_values = (1U << values) - 1;

  Array<double, Pairs> x;
  Array<double, values> previous;
  Array<double, values> current;

  /// Returns a pair of this lane; beyond the span the last pair is repeated.
  RINGWEAVE_HOST_DEVICE static std::int64_t pair_of(const Span& span, int lane, int i) {
    const int place = i * warp_lanes + lane;
    return span.first + (place < span.count ? place : span.count - 1);
  }
  RINGWEAVE_HOST_DEVICE static bool within_span(const Span& span, int lane, int i) {
    return i * warp_lanes + lane < span.count;
  }

  RINGWEAVE_HOST_DEVICE void seed(const PairTables& pairs, const SweepRow& row, const Span& span,
                                  int lane, int* scale) {
    RINGWEAVE_UNROLL
    for (int i = 0; i < Pairs; ++i) {
      const std::int64_t pair = pair_of(span, lane, i);
      x[i] = S::by_one ? pairs.x_by_one[span.variable][pair] : pairs.x_by_two[span.variable][pair];
      const SinePower sine =
          sine_power(pairs.log2_sin_high[pair], pairs.log2_sin_low[pair], row.sin_power);
      RINGWEAVE_UNROLL
      for (int f = 0; f < S::functions; ++f) {
        double p = sine.value * row.prefactor[f];
        if constexpr (S::functions > 1) {
          for (int n = 0; n < row.factor_power; ++n) p *= pairs.seed_factor[f][pair];
        }
        previous[f * Pairs + i] = 0;
        current[f * Pairs + i] = p;
        scale[(f * Pairs + i) * block_threads] = sine.scale;
      }
    }
  }

  /// Rescales values that have outgrown their scale; to be called before every chunk. Returns a
  /// mask: bit i is set if value i is within range.
  RINGWEAVE_HOST_DEVICE unsigned lift(int* scale) {
    unsigned within = 0;
    RINGWEAVE_UNROLL
    for (int i = 0; i < values; ++i) {
      int& own = scale[i * block_threads];
      if (own < 0 && std::fabs(current[i]) > near_the_range) {
        previous[i] *= two_to_minus_800;
        current[i] *= two_to_minus_800;
        ++own;
      }
      if (own == 0) within |= 1U << i;
    }
    return within;
  }

  /// Replaces `before` by the value after `now`.
  RINGWEAVE_HOST_DEVICE void advance(const Step<S::functions>& c, double* before,
                                     const double* now) const {
    RINGWEAVE_UNROLL
    for (int f = 0; f < S::functions; ++f) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < Pairs; ++i) {
        const int v = f * Pairs + i;
        const double kept = S::by_one ? c.b * before[v] : before[v];
        before[v] = (c.a * x[i] + c.g[f]) * now[v] + kept;
      }
    }
  }

  /// Advances by an even number of steps.
  template <int Steps>
  RINGWEAVE_HOST_DEVICE void run(const Double2* coefficients, int variable) {
    RINGWEAVE_UNROLL
    for (int t = 0; t < Steps; t += 2, coefficients += 2 * S::step_size) {
      advance(S::load(coefficients, variable), previous, current);
      advance(S::load(coefficients + S::step_size, variable), current, previous);
    }
  }
  /// Advances likewise and writes the values of the steps to kept [step][value]; Masked: zero below
  /// range.
  template <int Steps, bool Masked>
  RINGWEAVE_HOST_DEVICE void run_keeping(const Double2* coefficients, int variable, unsigned within,
                                         double* kept) {
    RINGWEAVE_UNROLL
    for (int t = 0; t < Steps; t += 2, coefficients += 2 * S::step_size) {
      keep<Masked>(current, within, kept + t * values);
      advance(S::load(coefficients, variable), previous, current);
      keep<Masked>(previous, within, kept + (t + 1) * values);
      advance(S::load(coefficients + S::step_size, variable), current, previous);
    }
  }
  template <bool Masked>
  RINGWEAVE_HOST_DEVICE static void keep(const double* p, unsigned within, double* kept) {
    RINGWEAVE_UNROLL
    for (int i = 0; i < values; ++i) kept[i] = !Masked || (within >> i & 1U) != 0 ? p[i] : 0;
  }
};

}  // namespace ringweave::detail::gpu
