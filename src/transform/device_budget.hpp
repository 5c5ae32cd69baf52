// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "base/device.hpp"
#include "distribute/mpi/communicator.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave {

/// What a transform finds on the device of this rank, and what it wants there.
struct DeviceBudget {
  DeviceIdentity device;
  int n_ranks = 1;              ///< that share the device
  std::int64_t free_bytes = 0;  ///< of the device before the transform allocates anything
  DeviceMemoryPlan planned;     ///< of this rank, wherever a_lm and maps lie
  /// Why a_lm and maps stay on the host, and the stages copy what they work on, in blocks; empty
  /// where they go to the device. The same on every rank.
  std::string reason{};

  bool on_device() const { return reason.empty(); }
};

/// Makes the device of this rank its thread's: ranks of a node take its devices in turn. Then plans
/// the transform against the memory that is free, the ranks that share a device counted.
/// Collective. Error  ResourceError where there is no device, UsageError where this build has no
/// CUDA.
DeviceBudget share_device(const Communicator& comm, const TransformPlan& plan);

/// How many ranks of this node have a device with this identity. Collective over the node.
int count_ranks_of(const Communicator& node, const DeviceIdentity& device);

/// Bytes of a device that a plan may count on when so many are free: the runtime takes some too.
std::int64_t usable_device_bytes(std::int64_t free_bytes);

/// What each stage of a transform whose data stay on the host may take of the device: the ranks
/// that share it, both stages, and those of groups of other fields get equal parts of what was
/// free.
std::int64_t copying_stage_bytes(const DeviceBudget& share, int n_group_shapes);

}  // namespace ringweave
