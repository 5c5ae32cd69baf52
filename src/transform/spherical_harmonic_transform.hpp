// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
#include "distribute/exchange/exchange.hpp"
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
/// its exact adjoint, and what an analysis is made of. Where spec.exchange says so, Legendre and
/// Alltoallv take turns in passes. With Backend::cuda the whole line is on a device
/// (OffloadedTransform) where a_lm, modes and map fit it; where they do not, each stage copies what
/// it works on. All fields of `spec.fields` go through together, or in groups one after the other
/// where spec.mode_bytes asks for it. Every member marked * is collective; results are bitwise the
/// same for any number of threads and equal to rounding for any number of ranks and groups. One
/// call at a time per object. T is the storage type of maps and a_lm, float or double.
class SphericalHarmonicTransform {
 public:
  /// Plans everything: distributions, exchange, Legendre tables, FFT plans. The workspace is
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
  /// (in groups, whose ring modes are smaller, and with the line on a device: at once).
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
  using Modes = HostBuffer<std::complex<double>>;
  /// What is planned for the fields of a group.
  struct Stages {
    FieldSet fields;
    std::unique_ptr<LegendreStage> legendre{};
    std::unique_ptr<RingFft> ring_fft{};
    std::unique_ptr<Exchange> exchange{};
    /// Instead of legendre and exchange where plan().always_in_passes(). Else made by the first
    /// adjoint that may not touch its map: what travels would be held twice at once, by ring and by
    /// order; much of it is exchanged and emptied in passes instead.
    std::unique_ptr<LegendrePasses> passes{};
    /// Made by the first transform that has modes by ring, a map as scratch and a_lm at once: what
    /// travels fits the map's memory by order. (Those that consume their input hold only two of
    /// the three and use `exchange`, which moves all modes.)
    std::unique_ptr<LegendrePasses> one_pass{};

    std::int64_t n_components() const { return fields.n_components(); }
  };
  Stages plan_stages(const FieldSet& fields) const;
  void plan_device_line();
  Stages& stages_of(const FieldGroup& group) { return stages_[to_size(group.shape)]; }
  /// Whether calls that consume their input hold it while they make their output.
  bool holds_both() const { return plan_.groups.size() > 1 || offloaded_ != nullptr; }
  bool alone() const { return comm_.size() == 1; }
  ModeView<double> ring_modes(const Stages& stages);  ///< workspace for plan().exchange.by_ring
  /// Workspace for modes by order.
  ModeView<double> order_modes(std::int64_t positions, std::int64_t n_components);
  /// The memory of the group's maps if it is large enough, else order_modes.
  template <class T>
  ModeView<double> order_modes_within(std::int64_t positions, std::int64_t n_components,
                                      MapView<T> map);
  /// For plan().exchange.by_order.
  template <class T>
  ModeView<double> whole_order_modes_within(const Stages& stages, MapView<T> map);
  template <class T>
  void legendre_synthesize(Stages& stages, AlmView<const T> alm, ModeView<double> modes);
  template <class T>
  void legendre_adjoint(Stages& stages, ModeView<const double> modes, AlmView<T> alm,
                        Accumulate how);
  template <class T>
  void fft_synthesize(Stages& stages, ModeView<const double> modes, MapView<T> map);
  template <class T>
  void fft_adjoint(Stages& stages, MapView<const T> map, std::span<const double> ring_weights,
                   ModeView<double> modes);
  template <class T>
  void require_shapes(AlmView<const T> alm, MapView<const T> map) const {
    require_alm(alm.n_components(), alm.size());
    require_map(map.n_components(), map.size());
  }
  // On several ranks; the first call makes them. Collective.
  LegendrePasses& passes_beside_map(Stages& stages);
  LegendrePasses& passes_within_map(Stages& stages);
  LegendrePasses& made(std::unique_ptr<LegendrePasses>& passes, const Stages& stages, int n_passes);
  /// Runs the last stage of a call. It cannot fail on the host; on a device all ranks agree on it.
  template <class Work>
  void finish(const Work& work);
  /// One group after the other. `scratch` is the map itself where its content may be lost.
  template <class T>
  void adjoint_of_groups(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
                         Accumulate how, const std::optional<MapView<T>>& scratch);
  /// One group after the other: `alm` (null: nothing) by ring, work(ring_fft's spectra, group,
  /// modes by ring) on it, and the Legendre stage's adjoint of that.
  template <class T, class Work>
  void apply_on_spectra(const AlmView<const T>* alm, AlmView<T> result, Accumulate how,
                        const Work& work);
  template <class T>
  MapBuffer<T> synthesize_holding_both(AlmBuffer<T>&& alm);
  template <class T>
  MapBuffer<T> synthesize_in_passes(AlmBuffer<T>&& alm);
  template <class T>
  AlmBuffer<T> adjoint_holding_both(MapBuffer<T>&& map, std::span<const double> ring_weights);
  template <class T>
  AlmBuffer<T> adjoint_in_passes(MapBuffer<T>&& map, std::span<const double> ring_weights);
  /// On one rank modes that should travel in single precision are rounded where they are.
  void round_alone(const Stages& stages, ModeView<double> modes);
  void orders_to_rings(const Stages& stages, ModeView<const double> by_order,
                       ModeView<double> by_ring);
  void rings_to_orders(const Stages& stages, ModeView<const double> by_ring,
                       ModeView<double> by_order);

  Communicator comm_;
  TransformPlan plan_;
  std::vector<Stages> stages_;  ///< [shape of a group]
  // Large enough for any group.
  Modes ring_modes_;
  Modes order_modes_;
  StageTimes times_;
  std::optional<DeviceBudget> device_;
  std::unique_ptr<OffloadedTransform> offloaded_;  ///< instead of stages_
};

}  // namespace ringweave
