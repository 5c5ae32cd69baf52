// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/transform_model.hpp"

namespace ringweave {

TransformSeconds predict_transform(const TransformWork& work, const MachineRates& rates) {
  TransformSeconds seconds;
  seconds.legendre = work.legendre_flops / (rates.legendre_flops_per_thread * work.n_threads);
  seconds.ring_fft =
      static_cast<double>(work.fft_bytes) / (rates.fft_bytes_per_thread * work.n_threads);
  if (work.n_ranks > 1) {
    seconds.exchange = static_cast<double>(work.exchange_bytes) / rates.exchange_bytes_per_rank +
                       rates.exchange_latency_seconds * (work.n_ranks - 1);
  }
  return seconds;
}

}  // namespace ringweave
