// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/device.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Returns a number that tells devices apart.
std::int64_t device_key(const DeviceIdentity& device);

/// Counts the ranks of this node whose device has this identity. Collective over the node.
int count_ranks_of(const Communicator& node, const DeviceIdentity& device);

/// Returns how many of the free bytes of a device a plan may use; the runtime takes some too.
std::int64_t usable_device_bytes(std::int64_t free_bytes);

}  // namespace ringweave::detail::inline distribute
