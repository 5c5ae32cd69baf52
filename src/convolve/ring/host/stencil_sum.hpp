// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace ringweave::detail::inline convolve::stencil {

/// Output rings summed together, so that a pixel is read once for all of them.
inline constexpr std::int64_t rings_together = 4;
/// Most pixels of a ring summed together on any machine.
inline constexpr std::int64_t most_pixels_together = 48;

/// The taps of one input ring for a block of output rings.
struct Taps {
  std::int64_t source = 0;  ///< number of the input ring
  std::int64_t first = 0;   ///< its pixel for pixel 0 of the output
  std::int64_t count = 0;
};

/// Pixels summed together on this machine: widths are multiples of it.
template <class T>
std::int64_t pixels_together() noexcept;

/// Sets out[r * width + p] = sum over taps of weight[tap][r] * source[p + tap], p < width.
///
/// weights  [tap][rings_together], in the order of the taps
/// sources  pixel 0 of each input ring
template <class T>
void sum(std::span<const Taps> taps, const T* weights, const T* const* sources, std::int64_t width,
         T* out) noexcept;

}  // namespace ringweave::detail::inline convolve::stencil
