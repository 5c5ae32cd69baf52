// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Rates of one machine. The defaults are those of a present-day server core and a 12 GB/s network:
/// good to a factor of two, enough for a plan.
struct MachineRates {
  double legendre_flops_per_thread = 100e9;  ///< useful (pruned) FLOP/s of the Legendre stage
  double fft_bytes_per_thread = 4e9;         ///< modes read plus map written, per second
  double exchange_bytes_per_rank = 2e9;
  double exchange_latency_seconds = 5e-6;  ///< for each peer
};

/// What one rank does in one transform (one direction).
struct TransformWork {
  double legendre_flops = 0;
  std::int64_t fft_bytes = 0;
  std::int64_t exchange_bytes = 0;
  int n_ranks = 1;
  int n_threads = 1;
};

struct TransformSeconds {
  double legendre = 0;
  double ring_fft = 0;
  double exchange = 0;
  double total() const { return legendre + ring_fft + exchange; }
};

/// Predicted seconds of each stage of one transform on one rank.
TransformSeconds predict_transform(const TransformWork& work, const MachineRates& rates = {});

}  // namespace ringweave
