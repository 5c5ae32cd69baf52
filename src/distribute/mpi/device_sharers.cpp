// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/device_sharers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Returns a number that differs between devices.
std::int64_t device_key(const DeviceIdentity& device) {
  return static_cast<std::int64_t>(std::hash<std::string>{}(device.uuid));
}

void require_capability() {
  constexpr int least = 80;
  const DeviceProperties device = device_properties();
  if (device.compute_capability >= least) return;
  throw ResourceError(
      fmt::format("GPU: {} has compute capability {}.{}, 8.0 is needed; choose the host backend",
                  device.name, device.compute_capability / 10, device.compute_capability % 10));
}

/// Calls use(number) for those of the ranks of a node that have the device.
template <class Use>
void for_each_rank_of(const Communicator& node, const DeviceIdentity& device, std::int64_t number,
                      const Use& use) {
  const std::vector<std::int64_t> devices = node.all_gather(device_key(device));
  const std::vector<std::int64_t> numbers = node.all_gather(number);
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    if (devices[rank] == device_key(device)) use(numbers[rank]);
}

}  // namespace

std::int64_t usable_device_bytes(std::int64_t free_bytes) { return free_bytes - free_bytes / 16; }

DeviceShare share_of_device(const Communicator& comm) {
  const Communicator node = comm.node_local();
  DeviceShare share;
  agree(comm, [&] {
    choose_device(node.rank());
    share.device = device_identity();
    require_capability();
    device_memory();  // makes CUDA allocate its own memory on every rank first
  });
  agree(comm, [&] { share.free_bytes = device_memory().free_bytes; });
  share.n_ranks = 0;
  for_each_rank_of(node, share.device, share.free_bytes, [&](std::int64_t free) {
    ++share.n_ranks;
    share.free_bytes = std::min(share.free_bytes, free);
  });
  return share;
}

int count_ranks_of(const Communicator& node, const DeviceIdentity& device) {
  return static_cast<int>(sum_over_ranks_of(node, device, 1));
}

std::int64_t sum_over_ranks_of(const Communicator& node, const DeviceIdentity& device,
                               std::int64_t number) {
  std::int64_t sum = 0;
  for_each_rank_of(node, device, number, [&](std::int64_t other) { sum += other; });
  return sum;
}

std::int64_t missing_device_bytes(const Communicator& comm, const DeviceShare& share,
                                  std::int64_t bytes) {
  const std::int64_t together = sum_over_ranks_of(comm.node_local(), share.device, bytes);
  return comm.max(together - usable_device_bytes(share.free_bytes));
}

}  // namespace ringweave::detail::inline distribute
