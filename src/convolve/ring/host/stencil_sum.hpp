// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace ringweave::detail::inline convolve::stencil {

/// Output rings summed together, so that a pixel is read once for all of them.
inline constexpr std::int64_t rings_together = 4;

/// The taps of one input ring for a block of output rings.
struct Taps {
  std::int64_t source = 0;  ///< number of the input ring
  std::int64_t first = 0;   ///< its pixel for pixel 0 of the output
  std::int64_t count = 0;
};

/// Sums in type T.
template <class T>
struct Sums {
  std::int64_t pixels_together;  ///< widths are multiples of it
  /// Sets out[r * width + p] = sum over taps of weight[tap][r] * source[p + tap], p < width. Does
  /// not throw.
  ///
  /// weights  [tap][rings_together], in the order of the taps
  /// sources  pixel 0 of each input ring
  void (*sum)(std::span<const Taps> taps, const T* weights, const T* const* sources,
              std::int64_t width, T* out);
};

/// Returns the sums for the vectors of this machine.
template <class T>
Sums<T> sums() noexcept;

}  // namespace ringweave::detail::inline convolve::stencil
