// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "convolve/ring/cuda/quadrant_sine.hpp"
#include "convolve/ring/cuda/ring_sum_plan.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "sphere/kernel/kernel_lookup.hpp"

// The fields that the launches of a ring convolution sum: scalar maps, or a field of spin. Each has
// the same functions.
namespace ringweave::detail::gpu {

/// Distances between the pixels of two rings: chord^2 = gap + span sin^2(phi / 2), as
/// RingPairChord.
struct PairChord {
  double gap;
  double span;

  static RINGWEAVE_HOST_DEVICE PairChord of(const SumRing& a, const SumRing& b) {
    const double half = 2 * quadrant_sine((a.theta - b.theta) / 2);
    return {half * half, 4 * a.sin_theta * b.sin_theta};
  }
  RINGWEAVE_HOST_DEVICE double squared(double sin2_half_phi) const {
    return std::fma(span, sin2_half_phi, gap);
  }
};

/// A difference in longitude, of a pixel less its partner.
struct LongitudeApart {
  double sin2_half;  ///< sin(phi / 2)^2
  double sine;       ///< sin(phi)
};

/// Maps with one kernel, which is real and even in longitude.
template <int n>
struct ScalarMaps {
  static constexpr int maps = n;
  /// Blocks of sums over pixels that a multiprocessor has registers for, at least.
  static constexpr int least_blocks = 4;
  /// Orders of a thread whose kernel modes stay in registers.
  static constexpr int orders = 2;
  /// A value of the kernel, or a mode of it: a sum of cosines.
  using Value = double;
  /// Two rings.
  struct Pair {
    PairChord chord;

    static RINGWEAVE_HOST_DEVICE Pair of(const SumRing& ring, const SumRing& partner) {
      return {PairChord::of(ring, partner)};
    }
  };

  /// Returns the kernel between two pixels times a weight.
  RINGWEAVE_HOST_DEVICE Value value(const KernelLookup& kernel, const Pair& pair,
                                    const LongitudeApart& apart, double weight) const {
    return weight * kernel.evaluate(pair.chord.squared(apart.sin2_half));
  }
  /// Returns the value of the mirror images, in longitude or of the other hemisphere.
  static RINGWEAVE_HOST_DEVICE Value mirrored(Value value) { return value; }
  /// Adds a sample of the kernel to a mode of it. turn  exp(i m phi)
  static RINGWEAVE_HOST_DEVICE void add_sample(Value sample, Double2 turn, Value& mode) {
    mode = std::fma(sample, turn.x, mode);
  }
  /// Adds a mode of the kernel times the modes of a ring. from, sums  [map]
  static RINGWEAVE_HOST_DEVICE void add_modes(Value mode, const Double2* from, Double2* sums) {
    RINGWEAVE_UNROLL
    for (int map = 0; map < maps; ++map) {
      const Double2 value = from[map];
      sums[map] = {std::fma(mode, value.x, sums[map].x), std::fma(mode, value.y, sums[map].y)};
    }
  }
  /// Adds the kernel times a pixel of a map. sums  [map]
  static RINGWEAVE_HOST_DEVICE void add_pixel(Value value, int map, double pixel, double* sums) {
    sums[map] = std::fma(value, pixel, sums[map]);
  }
};

/// Returns the kernel between two pixels times a weight, turned as a field of spin, or its
/// conjugate, is on the way.
template <class Pair>
RINGWEAVE_HOST_DEVICE Double2 turned_value(const KernelLookup& kernel, const Pair& pair,
                                           const LongitudeApart& apart, double weight, int spin) {
  const double scale = weight * kernel.evaluate(pair.chord.squared(apart.sin2_half));
  const auto factor = pair.transport.factor(apart.sin2_half, apart.sine, spin);
  return {scale * factor.re, scale * factor.im};
}

/// The maps Q and U of a field of spin, Q + i U, whose complex kernel is conjugate where the
/// difference in longitude changes its sign.
struct SpinMaps {
  static constexpr int maps = 2;
  static constexpr int least_blocks = 4;
  static constexpr int orders = 1;
  /// A value of the kernel, x + i y; or a mode of it: x a sum of cosines, y a sum of sines.
  using Value = Double2;
  struct Pair {
    PairChord chord;
    RingPairTransport transport;

    static RINGWEAVE_HOST_DEVICE Pair of(const SumRing& ring, const SumRing& partner) {
      return {PairChord::of(ring, partner), RingPairTransport::of(ring, partner)};
    }
  };

  int spin;

  RINGWEAVE_HOST_DEVICE Value value(const KernelLookup& kernel, const Pair& pair,
                                    const LongitudeApart& apart, double weight) const {
    return turned_value(kernel, pair, apart, weight, spin);
  }
  static RINGWEAVE_HOST_DEVICE Value mirrored(Value value) { return conjugate(value); }
  static RINGWEAVE_HOST_DEVICE void add_sample(Value sample, Double2 turn, Value& mode) {
    mode = {std::fma(sample.x, turn.x, mode.x), std::fma(sample.y, turn.y, mode.y)};
  }
  /// The modes of Q + i U are multiplied by x + y, those of Q - i U by x - y.
  static RINGWEAVE_HOST_DEVICE void add_modes(Value mode, const Double2* from, Double2* sums) {
    const Double2 q = from[0];
    const Double2 u = from[1];
    sums[0] = {std::fma(mode.x, q.x, std::fma(-mode.y, u.y, sums[0].x)),
               std::fma(mode.x, q.y, std::fma(mode.y, u.x, sums[0].y))};
    sums[1] = {std::fma(mode.x, u.x, std::fma(mode.y, q.y, sums[1].x)),
               std::fma(mode.x, u.y, std::fma(-mode.y, q.x, sums[1].y))};
  }
  static RINGWEAVE_HOST_DEVICE void add_pixel(Value value, int map, double pixel, double* sums) {
    const Double2 factor = map == 0 ? value : times_i(value);
    sums[0] = std::fma(factor.x, pixel, sums[0]);
    sums[1] = std::fma(factor.y, pixel, sums[1]);
  }
};

/// The maps Q and U of a field of spin of which the conjugate, Q - i U, is summed over pixels, with
/// a kernel of that.
struct ConjugateMaps {
  static constexpr int maps = 2;
  static constexpr int least_blocks = 3;
  using Value = Double2;
  struct Pair {
    PairChord chord;
    ConjugateTransport transport;

    static RINGWEAVE_HOST_DEVICE Pair of(const SumRing& ring, const SumRing& partner) {
      const double middle = (ring.theta + partner.theta) / 2;
      return {PairChord::of(ring, partner),
              {quadrant_cosine(middle - 1.57079632679489661923),
               quadrant_sine((ring.theta - partner.theta) / 2)}};
    }
  };

  int spin;

  RINGWEAVE_HOST_DEVICE Value value(const KernelLookup& kernel, const Pair& pair,
                                    const LongitudeApart& apart, double weight) const {
    return turned_value(kernel, pair, apart, weight, spin);
  }
  static RINGWEAVE_HOST_DEVICE Value mirrored(Value value) { return conjugate(value); }
  static RINGWEAVE_HOST_DEVICE void add_pixel(Value value, int map, double pixel, double* sums) {
    const Double2 factor = map == 0 ? value : Double2{value.y, -value.x};
    sums[0] = std::fma(factor.x, pixel, sums[0]);
    sums[1] = std::fma(factor.y, pixel, sums[1]);
  }
};

}  // namespace ringweave::detail::gpu
