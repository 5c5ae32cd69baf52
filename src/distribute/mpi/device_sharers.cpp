// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/device_sharers.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace ringweave::detail::inline distribute {

std::int64_t device_key(const DeviceIdentity& device) {
  return static_cast<std::int64_t>(std::hash<std::string>{}(device.uuid));
}

int count_ranks_of(const Communicator& node, const DeviceIdentity& device) {
  const std::vector<std::int64_t> devices = node.all_gather(device_key(device));
  return static_cast<int>(std::count(devices.begin(), devices.end(), device_key(device)));
}

std::int64_t usable_device_bytes(std::int64_t free_bytes) { return free_bytes - free_bytes / 16; }

}  // namespace ringweave::detail::inline distribute
