// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "base/device.hpp"
#include "ringweave/communicator.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave::detail::inline transform {

/// The memory available to a transform on this rank's device, and its need.
struct DeviceBudget {
  DeviceIdentity device;
  int n_ranks = 1;              ///< ranks that share the device
  std::int64_t free_bytes = 0;  ///< on the device, before the transform allocates
  DeviceMemoryPlan planned;     ///< of this rank, wherever a_lm and maps are stored
  /// Why a_lm and maps stay on the host while the stages copy their data in blocks; empty when they
  /// go to the device. The same on every rank.
  std::string reason{};

  bool on_device() const { return reason.empty(); }
};

/// Assigns this rank's device to its thread (ranks of a node take its devices in turn), then plans
/// the transform against the free memory, shared among the ranks of the device. Collective.
/// Error  ResourceError without a device; UsageError when this build has no CUDA.
DeviceBudget share_device(const Communicator& comm, const TransformPlan& plan);

/// Returns the device bytes each stage may use in a transform whose data stay on the host. The free
/// memory is divided equally among the ranks that share the device, the stages that run there, and
/// groups of different fields.
std::int64_t copying_stage_bytes(const DeviceBudget& share, int n_stages, int n_group_shapes);

}  // namespace ringweave::detail::inline transform
