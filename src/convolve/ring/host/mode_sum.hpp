// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::mode_sum {

/// Orders taken together, one in each lane.
inline constexpr std::int64_t orders = 16;
/// Pairs of rings taken together.
inline constexpr std::int64_t pairs = 12;

/// Pairs of one ring with others, `step` rings apart.
struct Tile {
  std::int64_t ring = 0;
  std::int64_t first = 0;  ///< distance of the first partner
  std::int64_t step = 1;
  std::int64_t n_samples = 0;
  const double* samples = nullptr;  ///< [sample][pairs] of the kernel along phi
};

/// K_m = sum of samples times cosines, used at once: for each partner
/// out(ring) += K_m in(partner), out(partner) += K_m in(ring), but of the ring with itself once.
///
/// cosines  [sample][orders]
/// in, out  [ring][channel][orders], different memory, aligned to vectors
void add(const Tile& tile, const double* cosines, std::int64_t n_channels, const double* in,
         double* out) noexcept;

/// The same with K_m made before. rows  [pair][orders], aligned to vectors
void add_rows(const Tile& tile, const double* rows, std::int64_t n_channels, const double* in,
              double* out) noexcept;
/// The sums alone.
void sum_rows(const Tile& tile, const double* cosines, double* rows) noexcept;

}  // namespace ringweave::mode_sum
