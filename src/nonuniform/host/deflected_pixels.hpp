// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "ringweave/grid.hpp"

namespace ringweave::detail::inline nonuniform {

/// A few pixels of one ring and their deflection, radians.
struct DeflectedPixels {
  static constexpr std::int64_t most = 512;

  const Ring* ring;
  std::int64_t first;  ///< number of the first one on the ring
  std::int64_t count;
  const double* d_theta;  ///< [pixel] to the south
  const double* d_phi;    ///< [pixel] to the east
};

/// Computes where the deflections end: [pixel] theta, and phi, which is not reduced to a circle and
/// may be null.
void find_positions(const DeflectedPixels& pixels, double* theta, double* phi) noexcept;
/// Computes the turns of GeodesicEnd, [pixel].
void find_rotation(const DeflectedPixels& pixels, double* cos_gamma, double* sin_gamma) noexcept;

/// Results of both, [pixel].
struct PixelEnds {
  double* theta;
  double* phi;
  double* cos_gamma;
  double* sin_gamma;
};
/// Computes both at once, with the same bits.
void find_ends(const DeflectedPixels& pixels, const PixelEnds& ends) noexcept;

}  // namespace ringweave::detail::inline nonuniform
