// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "legendre/legendre_stage.hpp"
#include "ringweave/grid.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline legendre {

/// Returns whether columns of this length have a fast transform in theta: a product of the factors
/// 2, 3, 5 and 7.
bool has_theta_fft(std::int64_t length);

/// Returns the smallest set of rings pi (j + 1/2) / n, n > degree, with a good FFT length n.
/// Error  UsageError when the degree is negative.
RingGrid equidistant_rings(std::int64_t degree);

/// The modes of a shape on equidistant rings, which are resampled to those it asks for.
struct ResampledModes {
  /// The modes that fields of a spin keep if they are alone.
  struct OwnLimits {
    ModeLimits equidistant;
    ModeLimits targets;
  };

  /// equidistant  equidistant_rings(lmax of the shape)
  /// Error  UsageError when the shape's fine rows do not fit to its a_lm.
  ResampledModes(const LegendreShape& shape, const RingGrid& equidistant);

  /// Returns whether the modes of an order are odd in theta: those of a scalar field have the
  /// parity of m, those of a spin s field the parity of m + s.
  bool is_odd(int m, std::int64_t component) const {
    return (m + spins[static_cast<std::size_t>(component)]) % 2 != 0;
  }

  ModeLimits limits;       ///< of all fields on the equidistant rings
  std::vector<int> spins;  ///< [component]
  /// [component] Limits of a field that is transformed alone, so that its result does not depend on
  /// other fields. Null where all fields have the same limits, and unless targets are fine rows.
  std::vector<std::shared_ptr<const OwnLimits>> own;
};

}  // namespace ringweave::detail::inline legendre
