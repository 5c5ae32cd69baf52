// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/communicator.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave::detail::inline transform {

/// The memory available to a transform on this rank's device before it allocates, and its need.
struct DeviceBudget : DeviceShare {
  DeviceMemoryPlan planned{};  ///< of this rank, wherever a_lm and maps are stored
  /// The reason why a_lm and maps stay on the host while the stages copy their data in blocks;
  /// empty when they go to the device. The same on every rank.
  std::string reason{};

  bool on_device() const { return reason.empty(); }
};

/// Shares the device as share_of_device() and plans the transform against the free memory.
/// Collective. Errors are the same.
DeviceBudget share_device(const Communicator& comm, const TransformPlan& plan);

/// Returns the device bytes each stage may use in a transform whose data stay on the host. The free
/// memory is divided equally among the ranks that share the device, the stages that run there, and
/// groups of different fields.
std::int64_t copying_stage_bytes(const DeviceBudget& share, int n_stages, int n_group_shapes);

}  // namespace ringweave::detail::inline transform
