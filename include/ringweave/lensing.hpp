// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <ringweave/alm.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/points.hpp>
#include <ringweave/views.hpp>

namespace ringweave::detail::inline distribute {
class RingDistribution;
}

namespace ringweave {

/// The a_lm of a lensing potential, dimensionless: d = grad phi + curl Omega, in radians.
struct Potential {
  /// Layout of this rank's orders; any distribution with every order on one rank.
  AlmLayout layout;
  AlmView<const double> phi;      ///< one component
  AlmView<const double> omega{};  ///< one component, or none: zero
};

/// A deflection of the pixels of a grid: the pixel at n looks at n', the end of the geodesic that
/// begins at n with the direction and length of d(n). The pixels are those of the rings that a
/// transform on the grid with the potential's lmax has. Copies share everything.
/// Members marked * are collective.
class Deflection {
 public:
  /// * Computes d at the pixels, the synthesis of a field of spin 1.
  /// Error  DataError on all ranks when a coefficient or a vector is not finite; UsageError when a
  ///        shape is wrong, an order is not on exactly one rank, or ranks disagree; ResourceError
  ///        when memory fails one, or cannot hold pixels and ring modes.
  Deflection(const Communicator& comm, std::shared_ptr<const RingGrid> grid,
             const Potential& potential, const ExchangeOptions& exchange = {});

  const LocalRings& rings() const;  ///< those of this rank
  /// Returns the owners of all rings, for a transform of the same maps (TransformSpec::ring_bands).
  std::shared_ptr<const detail::RingDistribution> ring_bands() const;

  /// Returns d, [to the south, to the east][pixel], radians.
  MapView<const double> vectors() const;
  /// Computes n' of every pixel of this rank, [pixel], radians: theta in [0, pi], and phi, which is
  /// not reduced to a circle. OpenMP.
  /// Error  UsageError when an array is not as long as there are pixels.
  void positions(View<double> theta, View<double> phi) const;
  /// Computes cos and sin of the angle gamma by which fields turn, [pixel]: the field of spin s
  /// that a pixel sees is exp(i s gamma) times that at n'. OpenMP.
  /// Error  as positions()
  void rotation(View<double> cos_gamma, View<double> sin_gamma) const;

  double rms() const;      ///< of |d| over the sphere
  double largest() const;  ///< |d| of any pixel

  /// * Computes |A|, the area around n' over the area around n. The first call finds it with fields
  /// of spin 0 and 2 and keeps it, 8 bytes a pixel; later calls plan and allocate nothing.
  /// map    [pixel]; overwritten
  /// Error  UsageError on all ranks for the inverse of a deflection, which has no potential, or
  ///        when a shape is wrong on one; ResourceError on all when memory fails one.
  void magnification(View<double> map) const;

  /// * Returns the deflection that leads back: for every pixel n' from there to the n with
  /// exp_n(d(n)) = n', to 1e-12 rad. Fields that are evaluated there, and turned, are delensed.
  /// Cost   about 8 evaluations of d at every pixel, from one FineField, which is in memory until
  ///        all are found. Up to 2^18 pixels of a rank are searched at once, with about 190 bytes
  ///        for each.
  /// Error  DataError on all ranks, with the pixel and its |A|, where 12 steps do not find n: the
  ///        deflection folds the sphere. UsageError for the inverse of a deflection. ResourceError
  ///        when memory cannot hold the field.
  Deflection inverse() const;
  /// Returns how often at most inverse() evaluated d at a pixel to make this deflection; 0 for one
  /// of a potential.
  int evaluations() const;

  /// Returns the seconds of "legendre", "exchange", "ring_fft" and "deflection" that this rank took
  /// to make it.
  const StageTimes& times() const;
  std::int64_t bytes() const;  ///< on this rank

 private:
  friend class Lensing;
  friend class Delensing;
  struct Impl;
  explicit Deflection(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// Tells whether fields of spin >= 1 turn with the frame that is carried along a deflection.
enum class FrameRotation {
  carried,  ///< as the sky does
  none      ///< components are copied from n' to n
};

/// The transform between a_lm and the deflected map, and its exact adjoint:
///
///     f(n) = exp(i s gamma(n)) X(n'(n)),   X the field of spin s with these a_lm
///
/// The adjoint is no inverse. The sum over pixels of an exact grid, with weights w |A|, is the
/// integral over n', so that adjoint(w |A| f) gives the a_lm but for the loss by the band limit.
/// lens() of the inverse deflection evaluates the a_lm of a lensed map where its pixels came from
/// (see Delensing).
///
/// Members marked * are collective. After the first call, which names its stages, calls allocate
/// and plan nothing. All ring modes go through one MPI_Alltoallv, unless ExchangeOptions ask for
/// passes. Maps are equal to rounding for any number of ranks and bitwise for any number of
/// threads. With Backend::cuda rows, sums and turns are computed on the devices of the ranks, which
/// keep all pixels and rows; results are those of the host to rounding, and bitwise the same on the
/// same ranks. One call at a time per object. T is float or double.
///
///   maps  [component][pixel of deflection.rings()]
///   a_lm  [component][my order m][l = m..lmax], as alm_layout() has them
///
/// From  Lewis (2005), Phys. Rev. D 71, 083008; Reinecke, Belkner & Carron (2023), A&A 678, A165
class Lensing {
 public:
  /// * Plans the transform and allocates its memory. `spec` is that of the unlensed fields.
  /// Error  UsageError on all ranks for an impossible `spec`, when the deflection is of a
  ///        communicator of other ranks, or when this build lacks the backend; ResourceError on all
  ///        ranks when memory, that of a device included, cannot hold pixels, rows and modes.
  Lensing(const Communicator& comm, const Deflection& deflection, const PointSpec& spec,
          FrameRotation rotation = FrameRotation::carried);
  ~Lensing();
  Lensing(Lensing&&) noexcept;             ///< moves the state
  Lensing& operator=(Lensing&&) noexcept;  ///< moves the state

  const AlmLayout& alm_layout() const;  ///< of the orders this rank owns
  const LocalRings& rings() const;      ///< the rings this rank owns
  /// Returns the transform to the points that the pixels see, for reports.
  const PointTransform& transform() const;

  /// Allocates this rank's part of a_lm, not initialised. Not collective.
  template <class T>
  AlmBuffer<T> make_alm() const {
    return {n_components(), alm_layout().size()};
  }
  /// Allocates this rank's part of a map, not initialised. Not collective.
  template <class T>
  MapBuffer<T> make_map() const {
    return {n_components(), rings().n_pixels()};
  }

  // Both throw UsageError on all ranks when a shape is wrong on one, and ResourceError on all when
  // a device fails one.

  /// * Computes the lensed map. Reads alm, which is not checked to be finite; overwrites map.
  template <class T>
  void lens(AlmView<const T> alm, MapView<T> map);
  /// * Does the same with buffers.
  template <class T>
  void lens(const AlmBuffer<T>& alm, MapBuffer<T>& map) {
    lens<T>(alm.view(), map.view());
  }

  /// * Applies the exact transpose (with weight 2 for m > 0 on the a_lm). There are no weights.
  /// Error  DataError on all ranks, naming the first, when a pixel is not finite.
  template <class T>
  void adjoint(MapView<const T> map, AlmView<T> alm, Accumulate how = Accumulate::overwrite);
  /// * Does the same with buffers.
  template <class T>
  void adjoint(const MapBuffer<T>& map, AlmBuffer<T>& alm, Accumulate how = Accumulate::overwrite) {
    adjoint<T>(map.view(), alm.view(), how);
  }

  /// Returns the seconds of "legendre", "exchange", "rows", "points" (with positions and turns of
  /// the pixels), "value_exchange" of this rank so far.
  StageTimes& times();
  std::int64_t bytes() const;  ///< on this rank, without the deflection's

 private:
  std::int64_t n_components() const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Deflects maps back: analyses a lensed map and evaluates its fields, turned, at the ends of the
/// inverse deflection. Degrees of the lensed map beyond its band limit are lost, and the analysis
/// has its errors: none on Gauss-Legendre, Clenshaw-Curtis and Fejer grids up to
/// RingGrid::default_lmax(); on HEALPix iterations reduce them. With Backend::cuda the analysis and
/// the transform to the pixels are computed on the devices of the ranks. Maps are [component][own
/// pixel].
/// Members marked * are collective. One call at a time per object. T is float or double.
class Delensing {
 public:
  /// * Plans analysis and transform. `inverse` is Deflection::inverse(), `spec` that of the lensed
  /// fields.
  /// n_iter  corrections of an analysis, as those of Analysis::jacobi()
  /// Error   as those of Lensing; UsageError on all ranks also for a grid without quadrature
  ///         weights, and when n_iter is negative or differs among ranks.
  Delensing(const Communicator& comm, const Deflection& inverse, const PointSpec& spec,
            int n_iter = 0, FrameRotation rotation = FrameRotation::carried);
  ~Delensing();
  Delensing(Delensing&&) noexcept;             ///< moves the state
  Delensing& operator=(Delensing&&) noexcept;  ///< moves the state

  const LocalRings& rings() const;  ///< the rings this rank owns
  /// Returns the transform to the points that the pixels see, for reports.
  const PointTransform& transform() const;

  /// * Computes the delensed map. Reads `map`, overwrites `delensed`. Plans nothing, and allocates
  /// nothing after the first call.
  /// Error  UsageError on all ranks when a shape is wrong on one; ResourceError on all when a
  ///        device fails one.
  template <class T>
  void delens(MapView<const T> map, MapView<T> delensed);
  /// * Does the same with buffers.
  template <class T>
  void delens(const MapBuffer<T>& map, MapBuffer<T>& delensed) {
    delens<T>(map.view(), delensed.view());
  }

  /// Returns the seconds of the stages of Lensing, and of "analysis", of this rank so far.
  StageTimes& times();
  std::int64_t bytes() const;  ///< on this rank, without the deflection's and the analysis's tables

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
