// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convolve/ring/mode_rows.hpp"
#include "convolve/ring/ring_convolution_cost.hpp"
#include "distribute/halo/halo_plan.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/grid.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::inline convolve {

/// The symmetries of a grid, by which pixels share kernel values: rotations by a quarter turn,
/// north and south exchanged, east and west exchanged. A grid has all three or none.
struct SectorRule {
  std::int64_t n_sectors = 1;      ///< 4 or 1
  std::int64_t n_hemispheres = 1;  ///< 2 or 1

  static SectorRule for_grid(const RingGrid& grid);
  bool is_mirrored() const { return n_hemispheres == 2; }
};

/// The longest run of rings with equally many pixels. Regular: their first pixels all have the same
/// longitude, or half a pixel more on every other ring.
struct EqualRun {
  RingRange rings;
  bool is_regular = false;
  bool alternates = false;

  static EqualRun for_grid(const RingGrid& grid);
};

/// The work of every rank in a ring convolution, as plain data made without MPI. Every pair of
/// rings within the support is summed in exactly one way: by modes where both rings have modes, by
/// a stencil where both are of the equal run, and else by sectors. Fields of spin have sums of
/// their own in place of the last two; their conjugates, if they have kernels, are summed over
/// pixels in addition.
class RingConvolutionPlan {
 public:
  enum class Way { modes, stencil, sectors };

  /// Plans the work of one rank. Error  UsageError when the specification contradicts itself, or
  /// asks for a path that the kernels or the grid do not allow.
  RingConvolutionPlan(const RingConvolutionSpec& spec, int rank, int n_ranks);

  const RingConvolutionSpec& spec() const { return spec_; }
  const RingGrid& grid() const { return *spec_.grid; }
  int n_ranks() const { return bands_->n_ranks(); }
  /// Ring ownership: bands of equal cost.
  const RingDistribution& bands() const { return *bands_; }
  const LocalRings& own() const { return *own_; }
  int spin() const { return spec_.kernels.front().spin(); }  ///< of all fields
  std::int64_t maps_of_field() const { return spin() > 0 ? 2 : 1; }
  /// Returns the largest support of all kernels, those of conjugates included.
  double support() const { return std::max(support_, conjugate_support_); }
  /// Returns the largest squared chord of the fields' kernels.
  double widest_chord() const { return widest_chord(spec_.kernels); }
  /// Returns true if every ring has a mirror at pi - theta with the same pixels.
  bool is_symmetric() const { return is_symmetric_; }
  const SectorRule& sectors() const { return sectors_; }
  const EqualRun& equal_run() const { return run_; }
  const ModeRows& modes() const { return modes_; }

  /// Returns the rings within the support of the fields' kernels from a ring.
  RingRange window(std::int64_t ring) const;
  /// Returns the same for the kernels of the fields' conjugates.
  RingRange conjugate_window(std::int64_t ring) const;
  Way way(std::int64_t a, std::int64_t b) const {
    if (modes_.zone.contains(a) && modes_.zone.contains(b)) return Way::modes;
    return run_.rings.contains(a) && run_.rings.contains(b) ? Way::stencil : Way::sectors;
  }
  bool has_stencil(std::int64_t ring) const { return way(ring, ring) == Way::stencil; }
  bool has_modes(std::int64_t ring) const { return modes_.zone.contains(ring); }
  // The same on all ranks, whatever they own.
  bool has_modes() const { return !modes_.zone.empty(); }
  bool sums_pixels() const {
    return has_conjugates() || modes_.zone != RingRange{0, grid().n_rings()};
  }
  bool has_conjugates() const { return !spec_.conjugate_kernels.empty(); }
  bool has_sectors(std::int64_t ring) const;
  /// Returns true if the rows of a group of pairs with orders up to `limit` are made by FFT.
  /// n_summed, n_transformed  kernel samples from the middle on, for sums and for the FFT
  bool makes_rows_by_fft(std::int64_t n_summed, std::int64_t n_transformed,
                         std::int64_t limit) const {
    return makes_rows_by_fft(modes_, static_cast<double>(n_summed),
                             static_cast<double>(n_transformed), static_cast<double>(limit));
  }

  /// Layout of the modes of own and halo rings: rows of all orders 0..mmax, [m][ring].
  const ModeLayout& rows() const { return rows_; }
  /// The same positions, but own rings only.
  const ModeLayout& own_rows() const { return own_rows_; }

  /// Pixels of other ranks' rings for the sums over pixels; empty without such sums.
  const HaloPlan& pixel_halo() const { return pixel_halo_; }
  /// Modes of other ranks' rings, mode_orders() of each: those a ring resolves; the others repeat
  /// them.
  const HaloPlan& mode_halo() const { return mode_halo_; }
  const RingPayload& mode_orders() const { return mode_orders_; }

  /// Maps of a batch whose modes are held at a time: whole fields, a divisor of n_maps.
  std::int64_t maps_together() const { return maps_together_; }

  // Bytes of this rank besides its maps. The goal for all memory of a convolution together is input
  // + output + halo + the modes of one field + at most a fifth of input + output.
  std::int64_t mode_bytes() const;  ///< own and halo rings
  std::int64_t halo_bytes() const;  ///< pixels of halo rings
  /// Returns the bytes of tables and scratch.
  std::int64_t workspace_bytes(int n_threads) const;
  /// The scratch to stay within where narrow kernels allow it; not guaranteed.
  std::int64_t scratch_goal(int n_threads) const;

  /// Seconds of one thread for all rings of the grid, as predicted when the path was chosen.
  const ConvolutionSeconds& predicted() const { return predicted_.seconds; }
  /// The same for a rank's rings.
  ConvolutionSeconds predicted(int rank) const;
  /// Includes work that this rank repeats from others. O(rings x bands).
  ConvolutionSeconds predicted_with_repeats(int rank) const;

 private:
  struct Prediction {
    ConvolutionSeconds seconds;
    std::vector<ConvolutionSeconds> of_ring;  ///< [ring]
  };
  void check() const;
  void check_spin() const;
  void check_conjugates() const;
  void choose_modes(int n_ranks);
  std::vector<ModeRows> mode_candidates() const;
  /// Share of the partners with modes that are on none of the bands.
  double share_elsewhere(std::int64_t ring, std::span<const RingBand> bands) const;
  RowFft fastest_fft(const ModeRows& modes, int n_ranks) const;
  /// Returns how many of `bytes` the ring FFT and tables leave for scratch.
  std::int64_t scratch_within(double bytes, int n_threads) const;
  bool makes_rows_by_fft(const ModeRows& modes, double n_summed, double n_transformed,
                         double limit) const;
  Prediction predict(const ModeRows& modes) const;
  static double widest_chord(const std::vector<RadialKernel>& kernels);
  /// Returns the nanoseconds of the sums of conjugates for a ring.
  double conjugate_nanoseconds(std::int64_t ring) const;
  /// Returns the nanoseconds of sums over pixels of a field of spin for two rings, with this many
  /// pixels of `in` within reach.
  double spin_nanoseconds(const Ring& out, const Ring& in, double taps,
                          const ConvolutionRates& rates) const;
  /// Predicts the nanoseconds of the sums of a ring.
  ConvolutionSeconds predict_ring(const ModeRows& modes, std::int64_t ring, double chord) const;
  std::vector<std::int64_t> ring_costs() const;
  void plan_halos(int rank);
  void lay_out_rows();
  void choose_maps_together();

  RingConvolutionSpec spec_;
  double support_ = 0;            ///< of the fields' kernels
  double conjugate_support_ = 0;  ///< of their conjugates' kernels
  bool is_symmetric_ = false;
  SectorRule sectors_;
  EqualRun run_;
  ModeRows modes_;
  Prediction predicted_;
  std::optional<RingDistribution> bands_;
  std::optional<LocalRings> own_;
  HaloPlan pixel_halo_;
  HaloPlan mode_halo_;
  RingPayload mode_orders_{std::span<const std::int64_t>()};
  ModeLayout rows_;
  ModeLayout own_rows_;
  std::int64_t maps_together_ = 1;
};

}  // namespace ringweave::detail::inline convolve
