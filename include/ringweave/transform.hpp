// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include <ringweave/alm.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/views.hpp>

namespace ringweave::detail::inline distribute {
class RingDistribution;
}
namespace ringweave::detail::inline legendre {
struct DeconvolvedRows;
}
namespace ringweave::detail::inline transform {
struct DeviceBudget;
class OffloadedTransform;
struct TransformPlan;
}  // namespace ringweave::detail::inline transform

namespace ringweave {

/// Specification of a transform, the same on every rank.
struct TransformSpec {
  std::shared_ptr<const RingGrid> grid;             ///< must be set
  int lmax = 0;                                     ///< highest degree
  int mmax = -1;                                    ///< -1: lmax
  FieldSet fields{{0}};                             ///< that are transformed together
  Backend backend = Backend::host;                  ///< place of the stages
  StagesOnDevice on_device = StagesOnDevice::both;  ///< with Backend::cuda
  /// Memory of a_lm and maps. MemorySpace::device, with Backend::cuda for both stages: calls take
  /// views of the device's memory, and nothing is copied to the host or planned for it.
  MemorySpace data = MemorySpace::host;
  ThetaRoute theta = ThetaRoute::automatic;  ///< rings of the sums over degrees
  /// ThetaRoute::automatic decides as if there were at most so many components. Where the fields
  /// are several maps, the number of one map makes each come out as it would alone.
  std::int64_t theta_components = std::numeric_limits<std::int64_t>::max();
  ExchangeOptions exchange{};  ///< of the ring modes
  /// Owners of the rings, as a RingConvolution that shares maps with the transform has them
  /// (RingConvolution::ring_bands()); null: the transform's own choice.
  std::shared_ptr<const detail::RingDistribution> ring_bands{};
  /// Rows of a transform to points (points.hpp) that the rings stand for, whose modes are
  /// deconvolved; null: rings are rings.
  std::shared_ptr<const detail::DeconvolvedRows> fine_rows{};
  /// Bytes of exchanged modes to store besides map and a_lm. An adjoint that keeps its map, or
  /// works on spectra, exchanges that many in one pass (one `MPI_Alltoallv`), and more in several,
  /// of about this size, but 64 at most; an overlapped exchange has 8 or more. Where the modes fit
  /// the map's memory they take none. A transform that consumes its input has one pass unless that
  /// would raise its peak memory.
  std::int64_t pass_bytes = std::int64_t{4} << 20;
  /// Bytes the ring modes of one rank may take in either layout. Beyond it the fields are
  /// transformed in groups, one after the other, of at least one field each.
  std::int64_t mode_bytes = std::numeric_limits<std::int64_t>::max();
  /// Bytes one rank may take of its device with Backend::cuda. A transform that needs more, or more
  /// than is free, leaves a_lm and maps on the host, and its stages copy their data; with a_lm and
  /// maps on the device it is refused (ResourceError).
  std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();

  /// Returns the same with mmax = lmax where it was left open.
  /// Error  UsageError when it contradicts itself.
  TransformSpec checked() const;
  /// Returns a number that differs (almost surely) when two specifications do. `grid` must be set.
  std::int64_t digest() const;
};

/// The spherical harmonic transform of some fields, distributed over the ranks of a communicator,
/// its exact adjoint, and the steps of an analysis (analysis.hpp):
///
///     a_lm [my m][l] -> Legendre sums -> modes [my m][ring] -> one MPI_Alltoallv
///                    -> modes [my ring][m] -> ring FFT -> map [my ring][phi]
///
/// Legendre stage and exchange run in one pass, or in several where memory is short or
/// spec.exchange asks for it. With Backend::cuda everything is on a device if a_lm, modes and map
/// fit there; otherwise, or where spec.on_device has one stage only, each stage on it copies its
/// data. All fields are transformed together, or in groups where spec.mode_bytes asks for it.
///
/// Members marked * are collective: all ranks of the communicator call them. Results are bitwise
/// the same for any number of threads, and equal to rounding for any number of ranks and groups.
/// One call at a time per object. T is the storage type of maps and a_lm, float or double.
///
///   maps   [component][pixel of my rings], pixels ring by ring as rings() has them
///   a_lm   [component][my order m][l = m..lmax], as alm_layout() has them; orthonormal Y_lm with
///          Condon-Shortley phase, spin s fields as E/B <-> Q/U with HEALPix's signs
///
/// From  Szydlarski, Esterie, Falcou, Grigori & Stompor (2014), Concurrency Computat.: Pract.
///       Exper. 26, 683 (distribution of orders and rings); Ishioka (2018), J. Meteor. Soc. Japan
///       96 (recurrence)
class SphericalHarmonicTransform {
 public:
  /// * Plans everything: distributions, exchanges, Legendre tables, FFT plans. The first transform
  /// allocates the workspace.
  /// Error  UsageError on all ranks where the specification contradicts itself, ranks disagree on
  ///        it, or this build lacks the backend; ResourceError on all when memory fails one, or
  ///        without a device.
  SphericalHarmonicTransform(const Communicator& comm, const TransformSpec& spec);
  ~SphericalHarmonicTransform();
  SphericalHarmonicTransform(SphericalHarmonicTransform&&) noexcept;  ///< moves the state
  SphericalHarmonicTransform& operator=(
      SphericalHarmonicTransform&&) noexcept;  ///< moves the state

  const TransformSpec& spec() const;    ///< with mmax
  const AlmLayout& alm_layout() const;  ///< of the orders this rank owns
  const LocalRings& rings() const;      ///< the rings this rank owns
  const FieldSet& fields() const;       ///< those of spec()
  const Communicator& comm() const;     ///< that of the constructor

  /// Allocates this rank's part of a map, not initialised. Not collective.
  template <class T>
  MapBuffer<T> make_map() const {
    return {fields().n_components(), rings().n_pixels()};
  }
  /// Allocates this rank's part of a_lm, not initialised. Not collective.
  template <class T>
  AlmBuffer<T> make_alm() const {
    return {fields().n_components(), alm_layout().size()};
  }

  // Everything below throws UsageError on all ranks when a shape is wrong on one, or spec().data is
  // another memory, and ResourceError on all when memory or a device fails one. With
  // ModePrecision::single_ it throws DataError on all ranks when a mode is too large for float.
  // Values that are not finite are not looked for: they make results that are not finite.

  /// * Computes f = sum over l, m of a_lm Y_lm. Reads alm, overwrites map.
  template <class T>
  void synthesize(AlmView<const T> alm, MapView<T> map);
  /// * Does the same with buffers.
  template <class T>
  void synthesize(const ComponentBuffer<std::complex<T>>& alm, ComponentBuffer<T>& map) {
    synthesize<T>(alm.view(), map.view());
  }

  /// * Does the same in the memory of this rank's device, with spec().data MemorySpace::device. The
  /// a_lm must be there when it is called; the map is there when it returns.
  template <class T>
  void synthesize(AlmView<const T, MemorySpace::device> alm, MapView<T, MemorySpace::device> map);

  /// * Does the same, frees the a_lm as soon as they are no longer needed, and only then allocates
  /// the map. (In groups of fields, and on a device, both exist together.)
  template <class T>
  MapBuffer<T> synthesize(AlmBuffer<T>&& alm);

  /// Throws UsageError unless a_lm of this rank have these components and elements. Not collective.
  void require_alm(std::int64_t n_components, std::int64_t size) const;
  /// Throws UsageError unless a map of this rank has these components and pixels. Not collective.
  void require_map(std::int64_t n_components, std::int64_t size) const;

  /// * Applies the adjoint of synthesis, the exact transpose: a_lm = sum over pixels of w_ring f
  /// Y_lm^*. `ring_weights` [owned ring] multiply the pixels; empty: all 1. Reads map, so with
  /// several ranks more than spec.pass_bytes of modes are exchanged in passes.
  template <class T>
  void adjoint(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
               Accumulate how = Accumulate::overwrite);
  /// * Does the same with buffers.
  template <class T>
  void adjoint(const ComponentBuffer<T>& map, std::span<const double> ring_weights,
               ComponentBuffer<std::complex<T>>& alm, Accumulate how = Accumulate::overwrite) {
    adjoint<T>(map.view(), ring_weights, alm.view(), how);
  }

  /// * Does the same in the memory of this rank's device, the weights of rings too, with
  /// spec().data MemorySpace::device. The map must be there when it is called; the a_lm are there
  /// when it returns.
  template <class T>
  void adjoint(MapView<const T, MemorySpace::device> map,
               View<const double, MemorySpace::device> ring_weights,
               AlmView<T, MemorySpace::device> alm, Accumulate how = Accumulate::overwrite);

  /// * Does the same with the map's memory as scratch: its contents are lost. Modes for other ranks
  /// are stored there if they fit.
  template <class T>
  void adjoint_destroying(MapView<T> map, std::span<const double> ring_weights, AlmView<T> alm,
                          Accumulate how = Accumulate::overwrite);

  /// * Does the same, frees the map as soon as it is no longer needed, and only then allocates the
  /// a_lm. (In groups of fields, and on a device, both exist together.)
  template <class T>
  AlmBuffer<T> adjoint(MapBuffer<T>&& map, std::span<const double> ring_weights);

  /// Tells whether the functions on spectra below can be called: not where the transform, or a
  /// stage of it, is on a device. There they throw UsageError on all ranks.
  bool has_spectra() const;
  /// * Replaces the pixels by the spectra of their rings, from which an iterative analysis forms
  /// residuals without further FFTs.
  template <class T>
  void to_spectra(MapView<T> map);
  /// * Applies adjoint() to the map with these spectra.
  template <class T>
  void adjoint_of_spectra(MapView<const T> spectra, std::span<const double> ring_weights,
                          AlmView<T> alm);
  /// * Computes result = (or +=) S^T W (f - S alm), with f the map with these spectra. alm and
  /// result may be the same. Returns ||f - S alm||^2 over the pixels of all ranks.
  template <class T>
  double adjoint_of_residual(MapView<const T> spectra, std::span<const double> ring_weights,
                             AlmView<const T> alm, AlmView<T> result,
                             Accumulate how = Accumulate::overwrite);
  /// * Computes result = S^T W S alm. Both may be the same.
  template <class T>
  void adjoint_of_synthesis(std::span<const double> ring_weights, AlmView<const T> alm,
                            AlmView<T> result);

  /// Returns the seconds of "legendre", "exchange", "ring_fft" of this rank so far, and of "upload"
  /// and "download" where a_lm and maps of the host go through a device.
  StageTimes& times();

  /// Frees the workspace. The next transform allocates it again. Not collective.
  void release_workspace() noexcept;

  /// Returns the plan, for Ringweave's own reports.
  const detail::TransformPlan& plan() const;
  /// Returns the memory found on this rank's device; null with Backend::host.
  const detail::DeviceBudget* device() const;
  /// Returns the transform on a device; null where a_lm and maps stay on the host.
  const detail::OffloadedTransform* offloaded() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
