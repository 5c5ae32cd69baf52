// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "convolve/ring/ring_convolution_plan.hpp"

namespace ringweave::detail::inline convolve {

/// The layout of maps and modes of a rank in the memory of its device, for all kernels of a plan.
/// Made without a device.
struct RingDeviceLayout {
  explicit RingDeviceLayout(const RingConvolutionPlan& plan);

  std::int64_t n_maps;       ///< there at a time
  std::int64_t stride;       ///< pixels from one map to the next; even, so that they are aligned
  std::int64_t halo_stride;  ///< the same of the halo
  std::int64_t n_modes;      ///< of own and halo rings, of the maps whose modes go together
};

/// Bytes of a rank on its device.
struct RingDeviceMemory {
  std::int64_t maps = 0;    ///< those at work, their halo and their results
  std::int64_t modes = 0;   ///< and the work memory of their FFTs
  std::int64_t tables = 0;  ///< of the kernels, and of the launches

  std::int64_t total() const { return maps + modes + tables; }
};

/// Predicts it. Takes as long as planning the sums.
RingDeviceMemory device_memory_of(const RingConvolutionPlan& plan);

}  // namespace ringweave::detail::inline convolve
