// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_estimate.hpp"

namespace ringweave {

TransformWork work_of(const TransformPlan& plan, int n_threads) {
  const TransformSpec& spec = plan.spec;
  const LegendreFlops flops = plan.legendre_flops();
  TransformWork work;
  work.lmax = spec.lmax;
  work.longest_ring = spec.grid->longest_ring();
  work.scalar_flops = flops.scalar;
  work.spin_flops = flops.spin;
  work.fft_pixel_bytes = plan.rings.n_pixels() * spec.fields.n_components() *
                         static_cast<std::int64_t>(sizeof(double));
  work.fft_mode_bytes = plan.by_ring_bytes();
  work.sent_bytes = plan.bytes_sent();
  work.n_ranks = plan.n_ranks;
  work.n_threads = n_threads;
  return work;
}

Estimate estimate_planning(const TransformPlan& plan, const Machine& machine) {
  return machine.transform_planning.estimate(plan.spec.lmax,
                                             static_cast<double>(plan.spec.grid->n_rings()));
}

}  // namespace ringweave
