// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline transform {
namespace {

/// The ranks sharing a device: their total need and the free memory.
struct Sharers {
  std::int64_t wanted = 0;
  std::int64_t free = 0;
};

/// Collective over the ranks of a node.
Sharers sharers_of(const Communicator& node, const DeviceBudget& mine) {
  const std::int64_t key = device_key(mine.device);
  const std::vector<std::int64_t> devices = node.all_gather(key);
  const std::vector<std::int64_t> wanted = node.all_gather(mine.planned.total());
  const std::vector<std::int64_t> free = node.all_gather(mine.free_bytes);
  Sharers sharers{0, mine.free_bytes};
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    if (devices[rank] != key) continue;
    sharers.wanted += wanted[rank];
    sharers.free = std::min(sharers.free, free[rank]);
  }
  return sharers;
}

/// Checked at once, because `auto` would otherwise notice too late to fall back to the host.
void require_capability() {
  constexpr int least = 80;
  const DeviceProperties device = device_properties();
  if (device.compute_capability >= least) return;
  throw ResourceError(
      fmt::format("GPU: {} has compute capability {}.{}, 8.0 is needed; choose the host backend",
                  device.name, device.compute_capability / 10, device.compute_capability % 10));
}

}  // namespace

std::int64_t copying_stage_bytes(const DeviceBudget& share, int n_stages, int n_group_shapes) {
  return usable_device_bytes(share.free_bytes) /
         (std::int64_t{n_stages} * share.n_ranks * n_group_shapes);
}

DeviceBudget share_device(const Communicator& comm, const TransformPlan& plan) {
  const Communicator node = comm.node_local();
  DeviceBudget share;
  agree(comm, [&] {
    choose_device(node.rank());
    share.device = device_identity();
    require_capability();
    device_memory();  // makes CUDA allocate its own memory on every rank first
    if (!plan.is_mixed()) share.planned = plan_device_memory(plan);
  });
  agree(comm, [&] { share.free_bytes = device_memory().free_bytes; });
  const Sharers sharers = sharers_of(node, share);
  share.n_ranks = count_ranks_of(node, share.device);
  share.free_bytes = sharers.free;
  if (plan.is_mixed()) {
    share.reason = plan.legendre_backend() == Backend::host ? "the Legendre stage runs on the host"
                                                            : "the ring FFT runs on the host";
    return share;
  }
  // The message names the largest shortage of any device.
  const std::int64_t missing = comm.max(sharers.wanted - usable_device_bytes(sharers.free));
  const std::int64_t excess = comm.max(share.planned.total() - plan.spec.device_bytes);
  if (missing > 0) {
    share.reason = fmt::format(
        "a_lm, maps and ring modes would need {} bytes more than a device has free", missing);
  } else if (excess > 0) {
    share.reason = fmt::format(
        "a_lm, maps and ring modes would need {} bytes more of a device than is allowed", excess);
  }
  return share;
}

}  // namespace ringweave::detail::inline transform
