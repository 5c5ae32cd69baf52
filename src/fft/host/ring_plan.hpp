// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fft/host/backward_fft.hpp"
#include "fft/host/column_plan.hpp"
#include "fft/host/mode_tile.hpp"
#include "fft/host/ring_length.hpp"
#include "fft/host/split_fft.hpp"
#include "fft/ring_fft.hpp"
#include "fft/unit_powers.hpp"

namespace ringweave::detail::inline fft {

/// Neighbouring rings of one length that one thread processes in the lanes of vectors.
struct LaneRun {
  RingRange rings;
  std::int64_t first_local = 0;
  std::int64_t length = 0;  ///< index into RingPlan::lengths()
};

/// Setup of the host ring FFT that all threads share: the distinct ring lengths with their FFT
/// plans, the distinct offsets, the number of modes per ring, and the blocks of rings for the
/// threads.
class RingPlan {
 public:
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
    std::int64_t length = 0;     ///< index into lengths()
    std::int64_t phases = -1;    ///< table of exp(i m phi0); -1: phi0 = 0
    std::int64_t n_modes = 0;    ///< 1 + the highest order the rows hold for this ring
    std::int64_t n_present = 0;  ///< number of those orders in the rows
    std::int64_t first_pixel = 0;
  };

  /// Error  UsageError when the rows do not ascend, leave the buffer, or n_components < 1.
  RingPlan(const RingFftShape& shape, int n_threads);

  const std::vector<Length>& lengths() const { return lengths_; }
  const RingEntry& ring(LocalRing ring) const { return rings_[static_cast<std::size_t>(ring)]; }
  const UnitPowers& powers() const { return powers_; }
  /// Blocks with urgent rings come first.
  const std::vector<RingBlock>& blocks() const { return blocks_; }
  const std::vector<LaneRun>& lane_runs() const { return lane_runs_; }
  std::int64_t n_urgent_blocks() const { return n_urgent_blocks_; }
  std::int64_t n_urgent_lane_runs() const { return n_urgent_lane_runs_; }
  std::int64_t rings_per_block() const { return rings_per_block_; }
  std::int64_t n_modes() const { return n_modes_; }  ///< 1 + the highest order of the rows
  std::int64_t max_lane_phi() const { return max_lane_phi_; }  ///< of the lane runs; 0: none
  /// Largest values over the owned rings that are not in lane runs, for scratch; modes: 1 + the
  /// highest order.
  std::int64_t max_modes() const { return max_modes_; }
  std::int64_t max_phi() const { return max_phi_; }
  std::int64_t max_complex() const { return max_complex_; }
  /// Returns the complex values one of these rings needs: its modes, or the input of its FFT.
  std::int64_t ring_values() const { return std::max(max_modes_, max_complex_); }
  const SplitFft::Capacity& capacity() const { return capacity_; }
  std::int64_t bytes() const;

 private:
  void plan_lengths(const LocalRings& rings);
  void add_length(const RingLength& length, std::int64_t n_rings_of_grid,
                  std::vector<UnitPowers::Request>& requests);
  bool is_in_lanes(std::int64_t local) const {
    return lengths_[static_cast<std::size_t>(rings_[static_cast<std::size_t>(local)].length)]
        .is_in_lanes();
  }
  void cut_lane_runs(const RingFftShape& shape, int n_threads);
  void cut_blocks(const RingFftShape& shape, int n_threads);
  void move_urgent_ahead(std::span<const RingRange> urgent);

  std::vector<Length> lengths_;
  std::vector<RingEntry> rings_;
  UnitPowers powers_;
  std::vector<RingBlock> blocks_;
  std::vector<LaneRun> lane_runs_;
  std::int64_t n_urgent_blocks_ = 0;
  std::int64_t n_urgent_lane_runs_ = 0;
  std::int64_t rings_per_block_ = 0;
  std::int64_t n_modes_ = 0;
  std::int64_t max_lane_phi_ = 0;
  std::int64_t max_modes_ = 0;
  std::int64_t max_phi_ = 0;
  std::int64_t max_complex_ = 0;
  ColumnPlan column_plan_;
  SplitFft::Capacity capacity_;
};

}  // namespace ringweave::detail::inline fft
