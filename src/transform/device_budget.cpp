// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_budget.hpp"

#include <fmt/format.h>

#include "distribute/mpi/agree.hpp"

namespace ringweave::detail::inline transform {

std::int64_t copying_stage_bytes(const DeviceBudget& share, int n_stages, int n_group_shapes) {
  return share.usable_bytes() / (std::int64_t{n_stages} * n_group_shapes);
}

DeviceBudget share_device(const Communicator& comm, const TransformPlan& plan) {
  DeviceBudget share{share_of_device(comm)};
  if (plan.is_mixed()) {
    share.reason = plan.legendre_backend() == Backend::host ? "the Legendre stage runs on the host"
                                                            : "the ring FFT runs on the host";
    return share;
  }
  agree(comm, [&] { share.planned = plan_device_memory(plan); });
  // The message names the largest shortage of any device.
  const std::int64_t missing = missing_device_bytes(comm, share, share.planned.total());
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
