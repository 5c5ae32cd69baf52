// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline transform {

/// Bytes a rank needs on its device for a transform with maps and a_lm in double precision.
struct DeviceMemoryPlan {
  std::int64_t legendre = 0;  ///< tables and workspace
  std::int64_t ring_fft = 0;  ///< tables and workspace
  /// Modes by ring and, on several ranks, the slots, for the largest group of fields. In single
  /// precision also buffers of the exchange.
  std::int64_t modes = 0;
  // Copies of data on the host; 0 where data are the caller's, on the device.
  std::int64_t alm = 0;
  std::int64_t map = 0;  ///< with the weights of its rings
  std::int64_t total() const { return legendre + ring_fft + modes + alm + map; }

  /// Pinned host memory: of the exchange where MPI cannot read ring modes on the device, or of the
  /// blocks being copied.
  std::int64_t staging = 0;
};

// The plans need no device and can be made for any rank.

/// Plans a transform with its data on the device.
DeviceMemoryPlan plan_device_memory(const TransformPlan& plan);
/// Plans a transform whose data stay on the host while its stages on the device copy them in blocks
/// that fit plan.copying_stage_bytes. Error  ResourceError when no blocks are small enough.
DeviceMemoryPlan plan_device_blocks(const TransformPlan& plan);

}  // namespace ringweave::detail::inline transform
