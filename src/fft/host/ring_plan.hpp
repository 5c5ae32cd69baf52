// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/unit_powers.hpp"
#include "fft/host/backward_fft.hpp"
#include "fft/host/column_plan.hpp"
#include "fft/host/mode_tile.hpp"
#include "fft/host/ring_length.hpp"
#include "fft/host/split_fft.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {

/// Neighbouring rings of one length that one thread processes in the lanes of vectors.
struct LaneRun {
  RingRange rings;
  std::int64_t first_local = 0;
  std::int64_t length = 0;  ///< index into RingPlan::lengths
};

/// Setup of the host ring FFT that all threads share: the distinct ring lengths with their FFT
/// plans, the distinct offsets, the number of modes per ring, and the blocks of rings for the
/// threads.
struct RingPlan {
  struct Length {
    RingLength length;
    std::int64_t roots = 0;               ///< table of exp(i pi k / n_complex), k < n_complex
    const BackwardFft* smooth = nullptr;  ///< of n_complex; null if the length is not smooth
    SplitFft::Plans split;                ///< used if it is not
    /// Factors of n_complex if LaneWorker processes rings of this length, else empty.
    std::vector<int> radices;
    std::int64_t turns = -1;  ///< if so: table of exp(2 pi i k / n_complex), k < n_complex
    bool is_in_lanes() const { return turns >= 0; }
  };
  struct RingEntry {
    std::int64_t length = 0;     ///< index into lengths
    std::int64_t phases = -1;    ///< table of exp(i m phi0); -1: phi0 = 0
    std::int64_t n_modes = 0;    ///< 1 + the highest order the rows hold for this ring
    std::int64_t n_present = 0;  ///< number of those orders in the rows
    std::int64_t first_pixel = 0;
  };

  /// Makes the plan and its tables. Error  UsageError when the rows do not ascend, leave the
  /// buffer, or n_components < 1.
  RingPlan(const RingFftShape& shape, int n_threads);

  const RingEntry& ring(LocalRing ring) const { return rings[static_cast<std::size_t>(ring)]; }
  /// Returns the complex values a ring outside lane runs needs: its modes, or the input of its FFT.
  std::int64_t ring_values() const { return std::max(max_modes, max_complex); }
  std::int64_t bytes() const;

  std::vector<Length> lengths;
  std::vector<RingEntry> rings;  ///< [owned ring]
  UnitPowers powers;
  std::vector<RingBlock> blocks;  ///< those with urgent rings first
  std::vector<LaneRun> lane_runs;
  std::int64_t n_urgent_blocks = 0;
  std::int64_t n_urgent_lane_runs = 0;
  std::int64_t rings_per_block = 0;
  std::int64_t n_modes = 0;       ///< 1 + the highest order of the rows
  std::int64_t max_lane_phi = 0;  ///< of the lane runs; 0: none
  // Largest values over the owned rings that are not in lane runs, for scratch.
  std::int64_t max_modes = 0;  ///< 1 + the highest order
  std::int64_t max_phi = 0;
  std::int64_t max_complex = 0;
  SplitFft::Capacity capacity;

 private:
  void plan_lengths(const RingFftShape& shape);
  void add_length(const RingLength& length, bool is_worth_lanes,
                  std::vector<UnitPowers::Request>& requests);
  bool is_in_lanes(std::int64_t local) const {
    return lengths[static_cast<std::size_t>(ring(LocalRing{local}).length)].is_in_lanes();
  }
  void cut_lane_runs(const RingFftShape& shape, int n_threads);
  void cut_blocks(const RingFftShape& shape, int n_threads);
  void move_urgent_ahead(std::span<const RingRange> urgent);

  ColumnPlan column_plan_;
};

}  // namespace ringweave::detail::inline fft
