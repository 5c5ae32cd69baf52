// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include <ringweave/alm.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/views.hpp>

namespace ringweave::detail::inline nonuniform {
class PlannedPoints;
}
namespace ringweave::detail::inline transform {
struct TransformPlan;
}

namespace ringweave {

/// Specification of a transform to arbitrary points, the same on every rank.
struct PointSpec {
  int lmax = 0;          ///< highest degree
  int mmax = -1;         ///< -1: lmax
  FieldSet fields{{0}};  ///< that are transformed together
  /// Bound of the rms error of the values over the rms of the field, for any a_lm, beyond rounding
  /// (1e-13 + 2e-16 lmax); 1e-13 to 0.1.
  double epsilon = 1e-7;
  Backend backend = Backend::host;  ///< place of the Legendre sums, rows and sums over taps
  ExchangeOptions exchange{};       ///< of the modes of rows

  /// Returns the same with mmax = lmax where it was left open.
  /// Error  UsageError when it contradicts itself.
  PointSpec checked() const;
  /// Returns a number that differs (almost surely) when two specifications do.
  std::int64_t digest() const;
};

/// Numbers that describe a transform to points, for reports. The same on every rank.
struct PointReport {
  int theta_taps = 0;             ///< fine rows around a point that its value is made of
  int phi_taps = 0;               ///< fine columns likewise
  std::int64_t fine_rows = 0;     ///< of the whole sphere
  std::int64_t fine_columns = 0;  ///< of each row
  double theta_oversampling = 0;  ///< fine rows over lmax + 1
  double phi_oversampling = 0;    ///< fine columns over 2 mmax + 2
  double predicted_error = 0;     ///< at most that of any mode, without rounding
  std::int64_t points = 0;        ///< of all ranks
  std::int64_t most_points = 0;   ///< points that touch the rows of a rank, on the rank with most
  double mean_points = 0;         ///< the same, mean of the ranks
  std::int64_t most_rows = 0;     ///< fine rows of the rank with most
  double mean_rows = 0;           ///< fine rows, mean of the ranks
};

class FineField;

/// Points of the sphere that the ranks of a communicator list, in any order and number, also none.
/// They are sent once to the ranks that own the rows around them. Copies share the points.
class PointSet {
 public:
  /// * Plans everything that depends on points.
  /// theta, phi  of this rank's points, radians; theta in [0, pi], any finite phi
  /// psi         angles of a detector with a polarised field, radians: values are then
  ///             T + Q cos(2 psi) + U sin(2 psi), or Q cos(2 psi) + U sin(2 psi); empty: none
  /// Error  DataError on all ranks, naming the first point, when an angle is not finite or theta is
  ///        outside [0, pi]; UsageError when arrays differ in length, the specification contradicts
  ///        itself, ranks disagree on it, or psi is given for other fields than T, Q, U or Q, U;
  ///        ResourceError when memory fails one, or cannot hold the points.
  PointSet(const Communicator& comm, const PointSpec& spec, std::span<const double> theta,
           std::span<const double> phi, std::span<const double> psi = {});
  /// * Plans points at which a FineField is evaluated, with its specification. Arrays and errors
  /// are the same.
  PointSet(const FineField& field, std::span<const double> theta, std::span<const double> phi,
           std::span<const double> psi = {});

  std::int64_t size() const;          ///< points that this rank lists
  std::int64_t n_components() const;  ///< of values: those of the fields, 1 with psi
  const PointReport& report() const;  ///< taps, fine rows and load of the ranks
  std::int64_t bytes() const;         ///< on this rank

 private:
  friend class PointTransform;
  friend class FineField;
  friend class Lensing;
  friend class Delensing;
  explicit PointSet(std::shared_ptr<detail::PlannedPoints> planned);
  std::shared_ptr<detail::PlannedPoints> planned_;
};

/// The transform between a_lm and values at points, and its exact adjoint:
///
///     a_lm -> Legendre sums on fine rows, deconvolved -> MPI_Alltoallv -> FFT in phi
///          -> sums over the taps around each point -> values to the ranks that list the points
///
/// Members marked * are collective. After the first call, which names its stages, calls allocate
/// and plan nothing. The modes of the rows go through one MPI_Alltoallv where on every rank the
/// memory of the sums holds the modes it sends, else, or if ExchangeOptions ask for it, through
/// several. Values are equal to rounding for any number of ranks and bitwise for any number of
/// threads, a_lm of the adjoint bitwise the same for any number of both and any distribution of the
/// points among ranks. With Backend::cuda they are those of the host to rounding, and bitwise the
/// same on the same ranks. One call at a time for all transforms that share a PointSet. T is float
/// or double.
///
///   values  [component][point], as this rank lists them
///   a_lm    [component][my order m][l = m..lmax], as alm_layout() has them
///
/// From  Reinecke, Belkner & Carron (2023), A&A 678, A165; Belkner et al. (2024),
///       arXiv:2406.14542; Barnett, Magland & af Klinteberg (2019), SIAM J. Sci. Comput. 41
class PointTransform {
 public:
  /// * Plans the transform and allocates its memory. `spec` must be that of the points.
  /// Error  UsageError on all ranks if it is not, if the points are of a communicator of other
  ///        ranks, or if this build lacks the backend; ResourceError on all ranks when memory fails
  ///        one, that of a device included, or cannot hold modes and rows.
  PointTransform(const Communicator& comm, const PointSpec& spec, const PointSet& points);
  ~PointTransform();
  PointTransform(PointTransform&&) noexcept;             ///< moves the state
  PointTransform& operator=(PointTransform&&) noexcept;  ///< moves the state

  const AlmLayout& alm_layout() const;  ///< of the orders this rank owns
  const PointSet& points() const;       ///< the points of the values
  /// Returns the owners of a_lm and fine rows, for reports.
  const detail::TransformPlan& plan() const;

  /// Allocates this rank's part of a_lm, not initialised. Not collective.
  template <class T>
  AlmBuffer<T> make_alm() const {
    return {n_alm_components(), alm_layout().size()};
  }
  /// Allocates this rank's values, not initialised. Not collective.
  template <class T>
  ComponentBuffer<T> make_values() const {
    return {points().n_components(), points().size()};
  }

  // Both throw UsageError on all ranks when a shape is wrong on one, and ResourceError on all when
  // a device fails one.

  /// * Computes the values of fields at the points. Reads alm, overwrites values. As in a
  /// synthesis, a_lm that are not finite are no error: they make values that are not.
  template <class T>
  void evaluate(AlmView<const T> alm, ComponentView<T> values);
  /// * Does the same with buffers.
  template <class T>
  void evaluate(const AlmBuffer<T>& alm, ComponentBuffer<T>& values) {
    evaluate<T>(alm.view(), values.view());
  }

  /// * Applies the exact transpose (with weight 2 for m > 0 on the a_lm): sums over the points of
  /// value times Y_lm^*. There are no weights.
  /// Error  DataError on all ranks, naming the first, when a value is not finite.
  template <class T>
  void adjoint(ComponentView<const T> values, AlmView<T> alm,
               Accumulate how = Accumulate::overwrite);
  /// * Does the same with buffers.
  template <class T>
  void adjoint(const ComponentBuffer<T>& values, AlmBuffer<T>& alm,
               Accumulate how = Accumulate::overwrite) {
    adjoint<T>(values.view(), alm.view(), how);
  }

  /// Returns the seconds of "legendre", "exchange", "rows", "points", "value_exchange" of this rank
  /// so far.
  StageTimes& times();
  std::int64_t bytes() const;  ///< on this rank, with those of the points

 private:
  std::int64_t n_alm_components() const;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A field for many sets of points, one after the other: time-ordered data in batches, or points
/// that move until they are right. It keeps the field on all fine rows, so that a set of points
/// costs only its own sums. Over all ranks that takes 8 bytes for each fine row, column and
/// component (PointReport), and during set() the ring modes as well; a PointTransform does not keep
/// rows. With Backend::cuda rows and sums are on the devices of the ranks, and points are copied
/// there by their first evaluate(), where they stay as long as their PointSet; values are those of
/// the host to rounding. Members marked * are collective. Values are equal to rounding for any
/// number of ranks and bitwise for any number of threads. One call at a time. T is float or double.
///
///   FineField field(comm, spec, n_points);
///   field.set(alm);
///   for (...) field.evaluate(PointSet(field, theta, phi), values);
class FineField {
 public:
  /// * Chooses the taps and allocates the rows.
  /// n_points  of all ranks and all sets, about: many points take fewer taps of finer rows
  /// Error  UsageError when the specification contradicts itself or differs among ranks, or this
  ///        build lacks the backend; ResourceError on all ranks when memory fails one, that of a
  ///        device included.
  FineField(const Communicator& comm, const PointSpec& spec, std::int64_t n_points);
  ~FineField();
  FineField(FineField&&) noexcept;             ///< moves the state
  FineField& operator=(FineField&&) noexcept;  ///< moves the state

  const PointSpec& spec() const;        ///< with mmax
  const AlmLayout& alm_layout() const;  ///< of the orders this rank owns

  /// Allocates this rank's part of a_lm, not initialised. Not collective.
  template <class T>
  AlmBuffer<T> make_alm() const {
    return {spec().fields.n_components(), alm_layout().size()};
  }

  /// * Computes the field on the rows. Reads alm, [component][my order m][l = m..lmax] as
  /// alm_layout() has them, which is not checked to be finite.
  /// Error  UsageError on all ranks when a shape is wrong on one; ResourceError on all ranks when
  ///        memory fails one, that of a device included.
  template <class T>
  void set(AlmView<const T> alm);
  /// * Does the same with a buffer.
  template <class T>
  void set(const AlmBuffer<T>& alm) {
    set<T>(alm.view());
  }

  /// * Computes the values at points of this field, [component][point] as this rank lists them.
  /// Error  UsageError on all ranks when a shape is wrong on one, the points are of another field,
  ///        or set() was not called; ResourceError on all ranks when a device fails one, or cannot
  ///        hold the points.
  template <class T>
  void evaluate(const PointSet& points, ComponentView<T> values);
  /// * Does the same with a buffer.
  template <class T>
  void evaluate(const PointSet& points, ComponentBuffer<T>& values) {
    evaluate<T>(points, values.view());
  }

  /// Returns the seconds of "legendre", "exchange", "rows", "points", "value_exchange" of this rank
  /// so far.
  StageTimes& times();
  std::int64_t bytes() const;  ///< on this rank, without points; with the modes during set()

 private:
  friend class PointSet;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
