// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/host_device.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline convolve {

/// Distances between the pixels of two rings: chord^2 = gap + span sin^2(phi / 2), which loses no
/// digits at any distance.
struct RingPairChord {
  double gap = 0;
  double span = 0;

  RingPairChord(const Ring& a, const Ring& b)
      : gap(square(2 * std::sin((a.theta - b.theta) / 2))), span(4 * a.sin_theta * b.sin_theta) {}

  double squared(double sin2_half_phi) const { return std::fma(span, sin2_half_phi, gap); }
  double squared_at(double phi) const { return squared(square(std::sin(phi / 2))); }

  /// Returns the largest difference in longitude within a chord; negative if no pixel is within it,
  /// pi if all are.
  double half_width(double chord_squared) const {
    const double room = chord_squared - gap;
    if (room < 0) return -1;
    if (room >= span) return std::numbers::pi;
    return 2 * std::asin(std::sqrt(room / span));
  }

  static double square(double x) { return x * x; }
};

/// The turn of a field of spin s on the great circle from a pixel of ring b to one of ring a: its
/// kernel is K(theta) exp(i s gamma) = K(theta) / cos(theta / 2)^2s z^2s, z = cos(theta / 2) exp(i
/// gamma / 2) the product of the two frames' spinors. z^2 needs no angle at either end and is
/// smooth for all pairs of pixels.
struct RingPairTransport {
  double cosine;  ///< of the even part of 2 z^2, besides a constant
  double constant;
  double sine;  ///< of the odd part

  /// z^2s.
  struct Factor {
    double re;
    double im;
  };

  /// T  a ring with cos_theta and sin_theta, of the grid or in a device's memory
  template <class T>
  static RINGWEAVE_HOST_DEVICE RingPairTransport of(const T& a, const T& b) {
    return {1 + a.cos_theta * b.cos_theta, a.sin_theta * b.sin_theta, a.cos_theta + b.cos_theta};
  }

  /// Returns z^2s for phi = longitude in a - longitude in b, given sin(phi / 2)^2 and sin(phi).
  RINGWEAVE_HOST_DEVICE Factor factor(double sin2_half_phi, double sin_phi, int spin) const {
    return power({(cosine + constant) / 2 - cosine * sin2_half_phi, -sine * sin_phi / 2}, spin);
  }

  /// Returns the power of a factor, 1 or more.
  static RINGWEAVE_HOST_DEVICE Factor power(Factor factor, int exponent) {
    Factor power = factor;
    for (int s = 1; s < exponent; ++s)
      power = {power.re * factor.re - power.im * factor.im,
               power.re * factor.im + power.im * factor.re};
    return power;
  }
};

/// The turn of the conjugate of a field of spin s on that great circle: its kernel is K(theta)
/// exp(i s gamma') = K(theta) (y / |y|)^2s, y = sin(theta / 2) exp(i gamma' / 2), with
///
///     y^2 = d^2 - (p^2 + d^2) sin^2(phi / 2) + i p d sin(phi),  |y|^2 = d^2 + (p^2 - d^2)
///     sin^2(phi / 2)
///
/// for the sines p and d of half the sum and half the difference of both colatitudes.
struct ConjugateTransport {
  double sum;         ///< p
  double difference;  ///< d

  static ConjugateTransport of(const Ring& a, const Ring& b) {
    return {std::sin((a.theta + b.theta) / 2), std::sin((a.theta - b.theta) / 2)};
  }

  /// Returns (y / |y|)^2s for phi = longitude in a - longitude in b, given sin(phi / 2)^2 and
  /// sin(phi); 0 at one place, which has no direction.
  RINGWEAVE_HOST_DEVICE RingPairTransport::Factor factor(double sin2_half_phi, double sin_phi,
                                                         int spin) const {
    const double even = difference * difference;
    const double odd = sum * sum;
    const double length = even + (odd - even) * sin2_half_phi;
    if (!(length > 0)) return {0, 0};
    return RingPairTransport::power(
        {(even - (odd + even) * sin2_half_phi) / length, sum * difference * sin_phi / length},
        spin);
  }
};

/// Returns the largest difference in longitude between a ring's pixels and points within an angle
/// of them, wherever those are: where a great circle through the pole touches the cap.
inline double widest_longitude(const Ring& ring, double angle) {
  const double to_pole = std::min(ring.theta, std::numbers::pi - ring.theta);
  if (to_pole <= angle * (1 + 1e-9)) return std::numbers::pi;
  return std::asin(std::min(1.0, std::sin(angle) / ring.sin_theta));
}

/// Counts the samples of a kernel along a ring within a half width, from its middle on; the last
/// may be on the edge, where the kernel's value decides.
/// around  samples around the ring
/// half    1: the first is half a sample from the middle; else 0
inline std::int64_t count_samples(double half_width, std::int64_t around, std::int64_t half) {
  constexpr double generous = 1e-9;
  const double width = half_width / (2 * std::numbers::pi) * static_cast<double>(around) + generous;
  const double last = std::floor(half == 1 ? width - 0.5 : width);
  const std::int64_t most = half == 1 ? (around + 1) / 2 : around / 2 + 1;
  return std::min(static_cast<std::int64_t>(last) + 1, most);
}

/// Returns a ring's first pixel in pixels from longitude 0, 0 to n_phi; exact where it is whole or
/// a half.
inline double offset_in_pixels(const Ring& ring) {
  const double n_phi = static_cast<double>(ring.n_phi);
  double offset = ring.phi0 * n_phi / (2 * std::numbers::pi);
  offset -= n_phi * std::floor(offset / n_phi);
  const double halves = std::round(2 * offset) / 2;
  if (std::abs(offset - halves) >= 1e-9) return offset;
  return halves < n_phi ? halves : 0;
}

}  // namespace ringweave::detail::inline convolve
