// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "perf_models/estimate.hpp"
#include "perf_models/machine.hpp"

namespace ringweave {

/// Where the stages compute, and where a_lm and maps lie.
enum class Place {
  host,
  device,            ///< copied to a device, and the result back
  device_in_blocks,  ///< on the host; the stages, on a device, copy what they work on
};
/// How ring modes go from one device to another.
enum class ModeRoute {
  direct,  ///< MPI takes them from device memory, where the machine says what that costs
  staged,  ///< through the host
};
/// Whether an exchange waits for the Legendre stage or travels beside it.
enum class ExchangeTiming { after_legendre, beside_legendre };

/// What one rank does in one transform (one direction).
struct TransformWork {
  int lmax = 0;
  std::int64_t longest_ring = 0;  ///< pixels
  double scalar_flops = 0;        ///< useful (pruned) FLOPs of the Legendre stage
  double spin_flops = 0;
  /// Work of a useful FLOP on the route the sums take, over what it is on a HEALPix grid with lmax
  /// = 2 nside, of which machines are measured. Devices take every ring.
  double legendre_work = 1;
  std::int64_t fft_pixel_bytes = 0;
  std::int64_t fft_mode_bytes = 0;
  std::int64_t alm_bytes = 0;
  std::int64_t sent_bytes = 0;
  int n_passes = 1;  ///< the exchange goes in
  ExchangeTiming timing = ExchangeTiming::after_legendre;
  int n_ranks = 1;
  int n_threads = 1;
  Place place = Place::host;
  ModeRoute route = ModeRoute::direct;
  int ranks_of_device = 1;  ///< that share one
};

struct TransformEstimate {
  Estimate legendre;
  Estimate ring_fft;
  Estimate exchange;  ///< what of it does not hide behind the Legendre stage
  Estimate copies{};  ///< of a_lm and maps to a device and back

  Estimate total() const { return legendre + ring_fft + exchange + copies; }
  friend TransformEstimate operator+(const TransformEstimate& a, const TransformEstimate& b) {
    return {a.legendre + b.legendre, a.ring_fft + b.ring_fft, a.exchange + b.exchange,
            a.copies + b.copies};
  }
  friend TransformEstimate operator*(double times, const TransformEstimate& one) {
    return {times * one.legendre, times * one.ring_fft, times * one.exchange, times * one.copies};
  }
};

/// Predicted time of each stage of one transform on one rank, the mean of both directions. For a
/// device of which the machine knows nothing, that of the host.
TransformEstimate estimate_transform(const TransformWork& work, const Machine& machine);

}  // namespace ringweave
