// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "perf_models/estimate.hpp"
#include "perf_models/machine.hpp"

namespace ringweave {

/// What one rank does in one transform (one direction).
struct TransformWork {
  int lmax = 0;
  std::int64_t longest_ring = 0;  ///< pixels
  double scalar_flops = 0;        ///< useful (pruned) FLOPs of the Legendre stage
  double spin_flops = 0;
  /// Work of a useful FLOP on the route the sums take, over what it is on a HEALPix grid with lmax
  /// = 2 nside, of which machines are measured.
  double legendre_work = 1;
  std::int64_t fft_pixel_bytes = 0;
  std::int64_t fft_mode_bytes = 0;
  std::int64_t sent_bytes = 0;
  int n_ranks = 1;
  int n_threads = 1;
};

struct TransformEstimate {
  Estimate legendre;
  Estimate ring_fft;
  Estimate exchange;

  Estimate total() const { return legendre + ring_fft + exchange; }
  friend TransformEstimate operator+(const TransformEstimate& a, const TransformEstimate& b) {
    return {a.legendre + b.legendre, a.ring_fft + b.ring_fft, a.exchange + b.exchange};
  }
  friend TransformEstimate operator*(double times, const TransformEstimate& one) {
    return {times * one.legendre, times * one.ring_fft, times * one.exchange};
  }
};

/// Predicted time of each stage of one transform on one rank.
TransformEstimate estimate_transform(const TransformWork& work, const Machine& machine);

}  // namespace ringweave
