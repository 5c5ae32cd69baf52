// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/mpi/communicator.hpp"
#include "sphere/alm_layout.hpp"
#include "sphere/field_set.hpp"
#include "sphere/local_rings.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

struct DeviceBudget;
class OffloadedTransform;

/// The spherical harmonic transform of some fields, distributed over the ranks of a communicator:
///
///   a_lm [my m][l] -> Legendre -> [my m][ring] -> one Alltoallv -> [my ring][m] -> ring FFT -> map
///   [my ring][phi]
///
/// its exact adjoint, and the steps of an analysis (analysis.hpp). Orders and rings are distributed
/// as S2HAT does (Szydlarski, Esterie, Falcou, Grigori and Stompor 2014). Legendre stage and
/// exchange go in one pass, or in several where memory is short or spec.exchange asks for it. With
/// Backend::cuda everything is on a device where a_lm, modes and map fit it; where they do not,
/// each stage copies its data. All fields of `spec.fields` go through together, or in groups one
/// after the other where spec.mode_bytes asks for it.
///
/// Every member marked * is collective: all ranks of the communicator call it. Results are bitwise
/// the same for any number of threads and equal to rounding for any number of ranks and groups. One
/// call at a time per object. T is the storage type of maps and a_lm, float or double.
///
///   maps   [component][pixel of my rings], pixels ring by ring as rings() has them
///   a_lm   [component][my order m][l = m..lmax], as alm_layout() has them; orthonormal Y_lm with
///          Condon-Shortley phase, spin s fields as E/B <-> Q/U with HEALPix's signs
class SphericalHarmonicTransform {
 public:
  /// Plans everything: distributions, exchanges, Legendre tables, FFT plans. The workspace is
  /// allocated by the first transform. UsageError on all ranks where they disagree on the
  /// specification. *
  SphericalHarmonicTransform(const Communicator& comm, const TransformSpec& spec);
  ~SphericalHarmonicTransform();
  SphericalHarmonicTransform(SphericalHarmonicTransform&&) noexcept;
  SphericalHarmonicTransform& operator=(SphericalHarmonicTransform&&) noexcept;

  const TransformSpec& spec() const;
  const TransformPlan& plan() const;
  const AlmLayout& alm_layout() const;  ///< of the orders this rank owns
  const LocalRings& rings() const;      ///< the rings this rank owns
  const FieldSet& fields() const;
  const Communicator& comm() const;

  /// Memory for this rank's part of a map or of a_lm, not initialised.
  template <class T>
  MapBuffer<T> make_map() const {
    return {fields().n_components(), rings().n_pixels()};
  }
  template <class T>
  AlmBuffer<T> make_alm() const {
    return {fields().n_components(), alm_layout().size()};
  }

  // Everything below throws UsageError on all ranks when a shape is wrong on one, and ResourceError
  // on all when memory or a device fails one.

  /// * Synthesis. alm is read only, map overwritten (and used as scratch on the way).
  template <class T>
  void synthesize(AlmView<const T> alm, MapView<T> map);
  template <class T>
  void synthesize(const ComponentBuffer<std::complex<T>>& alm, MapBuffer<T>& map) {
    synthesize<T>(alm.view(), map.view());
  }

  /// * Synthesis that consumes its input: the map is allocated when the a_lm are no longer needed
  /// (in groups, whose ring modes are smaller, and on a device: at once).
  template <class T>
  MapBuffer<T> synthesize(AlmBuffer<T>&& alm);

  /// UsageError unless a_lm / a map of this rank have these components and elements. Not
  /// collective.
  void require_alm(std::int64_t n_components, std::int64_t size) const;
  void require_map(std::int64_t n_components, std::int64_t size) const;

  using Accumulate = ringweave::Accumulate;

  /// * Adjoint synthesis, the exact transpose: a_lm = sum over pixels of w_ring f Y_lm^*.
  /// `ring_weights` [owned ring] multiply the pixels; empty: all 1. map is read only, so with
  /// several ranks more than spec.pass_bytes of modes are exchanged in passes.
  template <class T>
  void adjoint(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
               Accumulate how = Accumulate::overwrite);
  template <class T>
  void adjoint(const MapBuffer<T>& map, std::span<const double> ring_weights,
               ComponentBuffer<std::complex<T>>& alm, Accumulate how = Accumulate::overwrite) {
    adjoint<T>(map.view(), ring_weights, alm.view(), how);
  }

  /// * The same, using the map's memory as scratch: its content is lost, and modes that go to other
  /// ranks are stored there if they fit.
  template <class T>
  void adjoint_destroying(MapView<T> map, std::span<const double> ring_weights, AlmView<T> alm,
                          Accumulate how = Accumulate::overwrite);

  /// * The same, consuming the map: a_lm are allocated when it is no longer needed (in groups
  /// and on a device: at once).
  template <class T>
  AlmBuffer<T> adjoint(MapBuffer<T>&& map, std::span<const double> ring_weights);

  /// Whether there are the spectra below: not where the transform, or a stage of it, is on a
  /// device.
  bool has_spectra() const;
  /// * Pixels -> spectra of the rings, in place, from which an iterative analysis forms residuals
  /// without further FFTs.
  template <class T>
  void to_spectra(MapView<T> map);
  /// * adjoint() of the map that has these spectra.
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
  StageTimes& times();

  /// Memory found on this rank's device; null with Backend::host.
  const DeviceBudget* device() const;
  /// The transform on a device; null where a_lm and maps stay on the host.
  const OffloadedTransform* offloaded() const;

  /// Frees the workspace; the next transform allocates it again.
  void release_workspace() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
