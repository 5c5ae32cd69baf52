// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/device.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Returns how many of the free bytes of a device a plan may use; the runtime takes some too.
std::int64_t usable_device_bytes(std::int64_t free_bytes);

/// The device of a rank, with the ranks that share it.
struct DeviceShare {
  DeviceIdentity device;
  int n_ranks = 1;              ///< of this node, that have the device
  std::int64_t free_bytes = 0;  ///< of the device: the least that one of them finds

  /// Returns the bytes that this rank may use: as many as the others.
  std::int64_t usable_bytes() const { return usable_device_bytes(free_bytes) / n_ranks; }
};

/// Assigns this rank's device to its thread (ranks of a node take its devices in turn) and asks for
/// its free memory. Collective. Error  ResourceError without a device of compute capability 8.0;
/// UsageError when this build has no CUDA.
DeviceShare share_of_device(const Communicator& comm);

/// Counts the ranks of this node whose device has this identity. Collective over the node.
int count_ranks_of(const Communicator& node, const DeviceIdentity& device);
/// Returns the sum over these ranks. Collective over the node.
std::int64_t sum_over_ranks_of(const Communicator& node, const DeviceIdentity& device,
                               std::int64_t number);

/// Returns how many of the bytes that its ranks need a device lacks, of the one that lacks most; 0
/// or less where all fit. Collective.
std::int64_t missing_device_bytes(const Communicator& comm, const DeviceShare& share,
                                  std::int64_t bytes);

}  // namespace ringweave::detail::inline distribute
