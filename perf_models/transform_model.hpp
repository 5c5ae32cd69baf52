// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "perf_models/machine.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline perf_models {

/// Place of the stages, and memory of a_lm and maps.
enum class Place {
  host,
  device,            ///< copied to a device, and the result back
  device_in_blocks,  ///< on the host; stages on a device copy their data in blocks
};
/// Route of ring modes from one device to another.
enum class ModeRoute {
  direct,  ///< MPI reads device memory, where the machine has its cost
  staged,  ///< through the host
};
/// Tells whether an exchange follows the Legendre stage or overlaps with it.
enum class ExchangeTiming { after_legendre, beside_legendre };

/// The work of one rank in one transform (one direction).
struct TransformWork {
  int lmax = 0;
  std::int64_t longest_ring = 0;  ///< pixels
  double scalar_flops = 0;        ///< useful (pruned) FLOPs of the Legendre stage
  double spin_flops = 0;
  /// Work per useful FLOP on the chosen theta route, over that on a HEALPix grid with lmax = 2
  /// nside, for which machines are calibrated. Devices sum every ring, but for fine rows.
  double legendre_work = 1;
  std::int64_t fft_pixel_bytes = 0;
  std::int64_t fft_mode_bytes = 0;
  std::int64_t alm_bytes = 0;
  std::int64_t sent_bytes = 0;
  int n_passes = 1;  ///< of the exchange
  ExchangeTiming timing = ExchangeTiming::after_legendre;
  int n_ranks = 1;
  int n_threads = 1;
  Place place = Place::host;
  StagesOnDevice on_device = StagesOnDevice::both;  ///< where data are copied in blocks
  ModeRoute route = ModeRoute::direct;
  int ranks_of_device = 1;  ///< ranks that share a device
  // Of fine rows on a device, which stay there and are made of fewer, equidistant rings.
  bool is_to_fine_rows = false;
  double summed_rings = 1;       ///< those rings over all rows of the grid
  std::int64_t theta_bytes = 0;  ///< of FFTs in theta, from the rings to the rows
};

struct TransformEstimate {
  Estimate legendre;
  Estimate ring_fft;
  Estimate exchange;  ///< the part not hidden behind the Legendre stage
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

/// Predicts each stage of one transform on one rank, as the mean of both directions. For a device
/// unknown to the machine, uses the host's costs.
TransformEstimate estimate_transform(const TransformWork& work, const Machine& machine);

}  // namespace ringweave::detail::inline perf_models
