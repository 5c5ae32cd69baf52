// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/point_model.hpp"

namespace ringweave::detail::inline perf_models {

PointEstimate estimate_points(const PointWork& work, const Machine& machine) {
  const bool is_on_device = work.backend == Backend::cuda && machine.device;
  return {
      is_on_device
          ? work.ranks_of_device * machine.device->point_sums.estimate(work.lmax, work.operations)
          : 1.0 / work.n_threads * machine.point_sums.estimate(work.lmax, work.operations),
      exchange_estimate(machine.network, work.sent_bytes, work.n_ranks)};
}

}  // namespace ringweave::detail::inline perf_models
