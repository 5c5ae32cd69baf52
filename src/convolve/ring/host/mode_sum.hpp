// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "convolve/ring/row_fft.hpp"

namespace ringweave::detail::inline convolve::mode_sum {

inline constexpr std::int64_t orders = orders_together;
/// Pairs of rings processed together.
inline constexpr std::int64_t pairs = 12;

/// Pairs of one ring with others, `step` rings apart.
struct Tile {
  std::int64_t ring = 0;
  std::int64_t first = 0;  ///< distance of the first partner
  std::int64_t step = 1;
  std::int64_t n_samples = 0;
  const double* samples = nullptr;  ///< [sample][pairs] of the kernel along phi
};

/// Computes K_m = sum of samples times cosines and applies it at once: for each partner out(ring)
/// += K_m in(partner), out(partner) += K_m in(ring), but once for the ring with itself.
///
/// cosines  [sample][orders]
/// in, out  [ring][channel][orders], not overlapping, aligned to vectors
void add(const Tile& tile, const double* cosines, std::int64_t n_channels, const double* in,
         double* out) noexcept;

/// The same with precomputed K_m. rows  [pair][orders], aligned to vectors
void add_rows(const Tile& tile, const double* rows, std::int64_t n_channels, const double* in,
              double* out) noexcept;
/// Computes the sums only.
void sum_rows(const Tile& tile, const double* cosines, double* rows) noexcept;

}  // namespace ringweave::detail::inline convolve::mode_sum
