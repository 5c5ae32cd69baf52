// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/backend.hpp"
#include "base/buffer.hpp"
#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/mpi/communicator.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "sphere/alm_layout.hpp"
#include "sphere/field_set.hpp"
#include "sphere/local_rings.hpp"
#include "transform/device_budget.hpp"
#include "transform/field_groups.hpp"
#include "transform/legendre_passes.hpp"
#include "transform/offloaded_transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// The line of the program, distributed over the ranks of a communicator:
///
///   a_lm [my m][l] -> Legendre -> [my m][ring] -> one Alltoallv -> [my ring][m] -> ring FFT -> map
///   [my ring][phi]
///
/// its exact adjoint, and what an analysis is made of. Legendre stage and Alltoallv go in one pass,
/// or take turns in passes where memory is short or spec.exchange asks for it. With Backend::cuda
/// the whole line is on a device (OffloadedTransform) where a_lm, modes and map fit it; where they
/// do not, each stage copies what it works on. All fields of `spec.fields` go through together, or
/// in groups one after the other where spec.mode_bytes asks for it. Every member marked * is
/// collective; results are bitwise the same for any number of threads and equal to rounding for any
/// number of ranks and groups. One call at a time per object. T is the storage type of maps and
/// a_lm, float or double.
class SphericalHarmonicTransform {
 public:
  /// Plans everything: distributions, exchanges, Legendre tables, FFT plans. The workspace is
  /// allocated by the first transform. UsageError on all ranks where they disagree on the
  /// specification. *
  SphericalHarmonicTransform(const Communicator& comm, const TransformSpec& spec);

  const TransformSpec& spec() const { return plan_.spec; }
  const TransformPlan& plan() const { return plan_; }
  const AlmLayout& alm_layout() const { return plan_.alm; }  ///< of the orders this rank owns
  const LocalRings& rings() const { return plan_.rings; }    ///< the rings this rank owns
  const FieldSet& fields() const { return plan_.spec.fields; }
  const Communicator& comm() const { return comm_; }

  template <class T>
  MapBuffer<T> make_map() const {
    return {fields().n_components(), rings().n_pixels()};
  }
  template <class T>
  AlmBuffer<T> make_alm() const {
    return {fields().n_components(), alm_layout().size()};
  }

  // Everything below throws UsageError on all ranks when a shape is wrong on one.

  /// * Synthesis. alm is read only, map overwritten (and used as scratch on the way).
  template <class T>
  void synthesize(AlmView<const T> alm, MapView<T> map);

  /// * Synthesis that consumes its input: the map is allocated when the a_lm are no longer needed
  /// (in groups, whose ring modes are smaller, and on a device: at once).
  template <class T>
  MapBuffer<T> synthesize(AlmBuffer<T>&& alm);

  /// UsageError unless a_lm / a map of this rank have these components and elements. Not
  /// collective.
  void require_alm(std::int64_t n_components, std::int64_t size) const;
  void require_map(std::int64_t n_components, std::int64_t size) const;

  using Accumulate = LegendreStage::Accumulate;

  /// * Adjoint synthesis, the exact transpose: a_lm = sum over pixels of w_ring f Y_lm^*.
  /// `ring_weights` [owned ring] multiply the pixels; empty: all 1. map is read only, so with
  /// several ranks modes of more than spec.pass_bytes that travel are exchanged in passes.
  template <class T>
  void adjoint(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
               Accumulate how = Accumulate::overwrite);

  /// * The same, using the map's memory as scratch: its content is lost, and what travels between
  /// several ranks lies there if it fits.
  template <class T>
  void adjoint_destroying(MapView<T> map, std::span<const double> ring_weights, AlmView<T> alm,
                          Accumulate how = Accumulate::overwrite);

  /// * The same, consuming the map: a_lm are allocated when it is no longer needed (in groups
  /// and on a device: at once).
  template <class T>
  AlmBuffer<T> adjoint(MapBuffer<T>&& map, std::span<const double> ring_weights);

  /// Whether there are the spectra below: not where the line, or a stage of it, is on a device.
  bool has_spectra() const;
  /// * Pixels -> spectra of the rings (RingSpectra), in place: what an analysis that iterates needs
  /// of a map, none of whose iterations then takes an FFT.
  template <class T>
  void to_spectra(MapView<T> map);
  /// * What adjoint() makes of the map that has these spectra.
  template <class T>
  void adjoint_of_spectra(MapView<const T> spectra, std::span<const double> ring_weights,
                          AlmView<T> alm);
  /// * result = (or +=) S^T W (f - S alm), f the map that has these spectra; alm and result may be
  /// the same. Returns ||f - S alm||^2 over the pixels of all ranks.
  template <class T>
  double adjoint_of_residual(MapView<const T> spectra, std::span<const double> ring_weights,
                             AlmView<const T> alm, AlmView<T> result,
                             Accumulate how = Accumulate::overwrite);
  /// * result = S^T W S alm; both may be the same.
  template <class T>
  void adjoint_of_synthesis(std::span<const double> ring_weights, AlmView<const T> alm,
                            AlmView<T> result);

  /// Seconds of "legendre", "exchange", "ring_fft" of this rank so far.
  StageTimes& times() { return times_; }

  /// What it found on its device; null with Backend::host.
  const DeviceBudget* device() const { return device_ ? &*device_ : nullptr; }
  /// The line on a device; null where a_lm and maps stay on the host.
  const OffloadedTransform* device_line() const { return offloaded_.get(); }

  /// Frees the workspace; the next transform allocates it again.
  void release_workspace() noexcept;

 private:
  /// What is planned for the fields of a group.
  struct Stages {
    FieldSet fields;
    std::unique_ptr<RingFft> ring_fft{};
    // Legendre stage and exchange. Those with as many passes are one object; all share tables.
    std::shared_ptr<LegendrePasses> within_map{};  ///< slots in the map's memory if they fit it
    std::shared_ptr<LegendrePasses> beside_map{};  ///< slots beside the map, which keeps its pixels
    std::shared_ptr<LegendrePasses> consuming{};   ///< slots where the map is not yet, or no more
  };
  Stages plan_stages(const FieldSet& fields) const;
  void plan_device_line();
  Stages& stages_of(const FieldGroup& group) { return stages_[to_size(group.shape)]; }
  /// Whether calls that consume their input hold it while they make their output.
  bool needs_both_buffers() const { return plan_.groups.size() > 1 || offloaded_ != nullptr; }

  /// Workspace of a group: modes by ring and the slots of `passes`, in the memory of `map`, if
  /// there is one and it is large enough.
  template <class T>
  ModePieces<double> modes_for(LegendrePasses& passes, const FieldSet& fields,
                               const std::optional<MapView<T>>& map);
  void release_slots(LegendrePasses& passes) noexcept;
  template <class T>
  void fft_synthesize(Stages& stages, const ModePieces<double>& modes, MapView<T> map);
  template <class T>
  void fft_adjoint(Stages& stages, MapView<const T> map, std::span<const double> ring_weights,
                   const ModePieces<double>& modes);
  template <class T>
  void require_shapes(AlmView<const T> alm, MapView<const T> map) const {
    require_alm(alm.n_components(), alm.size());
    require_map(map.n_components(), map.size());
  }
  /// One group after the other. `scratch` is the map itself where its content may be lost.
  template <class T>
  void adjoint_of_groups(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
                         Accumulate how, const std::optional<MapView<T>>& scratch);
  /// One group after the other: synthesis to modes by ring (if there are a_lm), work(spectra of its
  /// rings, group, modes by ring), adjoint from there.
  template <class T, class Work>
  void apply_on_spectra(const std::optional<AlmView<const T>>& alm, AlmView<T> result,
                        Accumulate how, const Work& work);

  Communicator comm_;
  TransformPlan plan_;
  std::vector<Stages> stages_;  ///< [shape of a group]
  // Large enough for any group.
  HostBuffer<std::complex<double>> ring_modes_;
  HostBuffer<std::complex<double>> slots_;
  StageTimes times_;
  std::optional<DeviceBudget> device_;
  std::unique_ptr<OffloadedTransform> offloaded_;  ///< instead of stages_
};

}  // namespace ringweave
