// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/transform_model.hpp"

namespace ringweave {

TransformEstimate estimate_transform(const TransformWork& work, const Machine& machine) {
  const double share = 1.0 / work.n_threads;
  const auto ring_size = static_cast<double>(work.longest_ring);
  return {
      share * work.legendre_work *
          (machine.legendre_scalar.estimate(work.lmax, work.scalar_flops) +
           machine.legendre_spin.estimate(work.lmax, work.spin_flops)),
      share *
          (machine.ring_fft.estimate(ring_size, static_cast<double>(work.fft_pixel_bytes)) +
           machine.ring_fft_modes.estimate(ring_size, static_cast<double>(work.fft_mode_bytes))),
      exchange_estimate(machine.network, static_cast<double>(work.sent_bytes), work.n_ranks),
  };
}

}  // namespace ringweave
