// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "convolve/ring/ring_pair.hpp"

namespace ringweave::detail::inline convolve::spin_sum {

/// Arrays may be written up to this many doubles beyond their end.
inline constexpr std::int64_t padding = 8;

/// A pixel of one ring and `count` pixels of another, one after the other.
struct Arc {
  double cosine = 1;  ///< of half the longitude from some pixel of the other ring to this one
  double sine = 0;
  /// [k] of half the longitude from that pixel to pixel k, padded.
  const double* cosines = nullptr;
  const double* sines = nullptr;
  std::int64_t count = 0;
};

/// Computes sin(phi / 2)^2, sin(phi) and the chords squared; arrays padded.
void place(const Arc& arc, const RingPairChord& chord, double* sin2_half, double* sin_phi,
           double* chord_squared) noexcept;

/// re[k] + i im[k] = re[k] weight factor(sin2_half[k], sin_phi[k], spin) of the transport; arrays
/// padded.
void turn(const RingPairTransport& transport, double weight, int spin, const double* sin2_half,
          const double* sin_phi, std::int64_t count, double* re, double* im) noexcept;

/// Multiplies kernel values by the conjugates of the factors of a field's conjugate. Summed with
/// the field itself they give the conjugates of the results of the field's conjugate.
void turn_conjugate(const ConjugateTransport& transport, double weight, int spin,
                    const double* sin2_half, const double* sin_phi, std::int64_t count, double* re,
                    double* im) noexcept;

/// Products of a pixel, and of those that rotations take it to, with a field.
template <class T>
struct Products {
  const double* re = nullptr;  ///< [k] the kernel
  const double* im = nullptr;
  std::int64_t count = 0;
  const T* q = nullptr;  ///< pixels of the other ring
  const T* u = nullptr;
  std::int64_t n_in = 0;   ///< of that ring
  std::int64_t first = 0;  ///< pixel of k = 0
  std::int64_t n_rotations = 1;
  std::int64_t step_in = 0;  ///< pixels of a rotation
  std::int64_t step_out = 0;
};

/// Adds the kernel times Q + i U to the sums at every step_out'th place.
void add(const Products<double>& products, double* sum_q, double* sum_u) noexcept;
void add(const Products<float>& products, double* sum_q, double* sum_u) noexcept;

}  // namespace ringweave::detail::inline convolve::spin_sum
