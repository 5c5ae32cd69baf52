// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "base/scratch_arena.hpp"
#include "fft/host/lane_rings.hpp"
#include "fft/host/ring_plan.hpp"
#include "fft/host/ring_spectrum.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// One thread's part of the ring FFT for runs of rings of one length: scratch, tables, and pointers
/// to the modes of the run's lanes. A lane is one component of one ring; lanes are in the order of
/// the rows, [ring][component]. Results do not depend on which rings share a vector.
class LaneWorker {
 public:
  LaneWorker(const RingPlan& plan, const RingFftShape& shape);
  /// Sets the scratch before each use; another worker may have used it since.
  void place(ScratchArena& pieces);

  template <class T>
  void synthesize(const LaneRun& run, const std::complex<double>* modes, MapView<T> map) noexcept;
  /// ring_weights  [owned ring]; empty: all 1
  template <class T>
  void adjoint(const LaneRun& run, MapView<const T> map, std::span<const double> ring_weights,
               std::complex<double>* modes) noexcept;
  /// The same with pixels elsewhere.
  void synthesize(const LaneRun& run, const std::complex<double>* modes,
                  const RunPixels& pixels) noexcept;
  void adjoint(const LaneRun& run, const RunPixels& pixels, std::complex<double>* modes) noexcept;
  template <class T>
  void to_spectra(const LaneRun& run, MapView<T> map) noexcept;
  /// squares  [owned ring][component]
  template <class T>
  void apply_operator(SpectrumOperator what, const LaneRun& run, MapView<const T> spectra,
                      std::span<const double> ring_weights, std::complex<double>* modes,
                      double* squares) noexcept;

  std::int64_t bytes() const;

 private:
  /// Work of one vector of lanes.
  struct Group {
    std::int64_t first = 0;  ///< a lane of the run
    std::int64_t count = 0;
  };
  /// The last group may overlap the one before it, which is cheaper than modes in parts; the common
  /// lanes are computed twice with the same result. Not possible in place.
  enum class LastGroup { reaches_back, is_short };
  template <class Work>
  void for_each_group(const LaneRun& run, LastGroup last, const Work& work);
  /// Returns a function that gives the pixels of a lane of the run.
  template <class T>
  auto lanes_of(const LaneRun& run, MapView<T> map) const noexcept;
  auto lanes_of(const RunPixels& pixels) const noexcept;
  /// Returns pointers to the pixels of a group, [lane]; unused lanes repeat the last one.
  template <class T, class Lanes>
  static std::array<const T*, lane_rings::most_lanes> pixels_of(Group group,
                                                                const Lanes& lanes) noexcept;
  std::array<double, lane_rings::most_lanes> weights_of(
      const LaneRun& run, Group group, std::span<const double> ring_weights) const noexcept;
  /// Returns pointers to the output of a group, null in unused lanes.
  template <class T, class Lanes>
  static std::array<T*, lane_rings::most_lanes> targets_of(Group group,
                                                           const Lanes& lanes) noexcept;
  template <class T, class Lanes>
  void synthesize_lanes(const LaneRun& run, const std::complex<double>* modes,
                        const Lanes& lanes) noexcept;
  template <class T, class Lanes>
  void adjoint_lanes(const LaneRun& run, const Lanes& lanes, std::span<const double> ring_weights,
                     std::complex<double>* modes) noexcept;
  void prepare(const LaneRun& run) noexcept;
  /// Fills offsets_ with the position of each order's modes of the whole run.
  void locate(const LaneRun& run) noexcept;
  void prepare_phases(const LaneRun& run, Group group) noexcept;
  LocalRing ring_of(const LaneRun& run, std::int64_t lane) const noexcept {
    return LocalRing{run.first_local + lane / n_components_};
  }
  /// Returns whether the group's modes of an order are contiguous in the rows.
  bool is_direct(Group group, std::int64_t m) const noexcept {
    return offsets_[m] >= 0 && group.count == n_lanes_;
  }
  std::complex<double>* edge(std::int64_t m) noexcept { return edges_ + m * n_lanes_; }
  /// Fills places_ with pointers to the modes, or to an edge if they are in parts.
  void place(Group group, std::complex<double>* modes) noexcept;
  void copy_to_edges(const LaneRun& run, Group group, const std::complex<double>* modes) noexcept;
  void copy_from_edges(const LaneRun& run, Group group, std::complex<double>* modes) noexcept;
  /// Calls move(position in the modes, lane in the group, count) for the parts of an order that the
  /// rows hold for a group.
  template <class Move>
  void for_each_part(const LaneRun& run, Group group, const ModeLayout::Row& row,
                     const Move& move) const;

  const RingPlan* plan_;
  const ModeLayout* rows_;
  std::int64_t n_components_;
  std::int64_t n_lanes_;
  const RingPlan::Length* length_ = nullptr;  ///< the length roots_ and turns_ are for
  std::array<std::int64_t, lane_rings::most_lanes> phase_tables_;  ///< of the phases
  std::int64_t n_phases_ = 0;
  LaneRings rings_;

  HostBuffer<double> fine_phases_;
  HostBuffer<double> coarse_phases_;
  HostBuffer<std::complex<double>> roots_;
  HostBuffer<std::complex<double>> turns_;
  HostBuffer<std::int64_t> offsets_;          ///< [m]; see locate()
  HostBuffer<std::complex<double>*> places_;  ///< [m]
  std::complex<double>* edges_ = nullptr;     ///< [m][lane], orders that the rows hold only in part
};

}  // namespace ringweave::detail::inline fft
