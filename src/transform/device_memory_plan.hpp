// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "transform/transform_plan.hpp"

namespace ringweave {

/// Bytes a rank holds on its device for a transform, maps and a_lm in double precision.
struct DeviceMemoryPlan {
  std::int64_t legendre = 0;  ///< tables and workspace
  std::int64_t ring_fft = 0;  ///< tables and workspace
  /// By ring and, on several ranks, in slots; of the largest group of fields. In single precision
  /// also buffers of the exchange.
  std::int64_t modes = 0;
  std::int64_t alm = 0;
  std::int64_t map = 0;  ///< with the weights of its rings
  std::int64_t total() const { return legendre + ring_fft + modes + alm + map; }

  /// Pinned memory of the host: of the exchange where MPI does not take ring modes straight from
  /// the device, or of blocks on their way.
  std::int64_t staging = 0;
};

// Made without a device, for any rank.

/// Of a transform that has its data on the device.
DeviceMemoryPlan plan_device_memory(const TransformPlan& plan);
/// Of one whose data stay on the host while its stages copy what they work on, in blocks that
/// plan.copying_stage_bytes allows. Error  ResourceError when no blocks are small enough.
DeviceMemoryPlan plan_device_blocks(const TransformPlan& plan);

}  // namespace ringweave
