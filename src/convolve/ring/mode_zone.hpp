// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/mode_view.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline convolve {

/// Own rings that have modes, which are consecutive among a rank's pixels.
struct ModeZone {
  explicit ModeZone(const RingConvolutionPlan& plan);

  /// Returns their pixels in maps of all own rings.
  template <class T, MemorySpace Space>
  MapView<T, Space> of(MapView<T, Space> map) const {
    return {map.data() + first_pixel, map.n_components(), n_pixels, map.stride()};
  }

  std::int64_t first_pixel = 0;
  std::int64_t n_pixels = 0;
  std::vector<double> weights;  ///< [own ring of the zone]
  RingFftShape shape;           ///< of as many maps as are held at a time
};

/// Fills the modes of halo rings that did not travel: from mode_orders() on they repeat those
/// below, R_(n + m) = R_m exp(-i n phi0), R_(n - m) = conj(R_m) exp(-i n phi0).
///
/// modes  as plan.rows() lays them out, [position][map]
void repeat_halo_modes(const RingConvolutionPlan& plan, ModeView<double> modes);

}  // namespace ringweave::detail::inline convolve
