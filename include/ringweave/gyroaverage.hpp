// SPDX-License-Identifier: GPL-3.0-or-later
// Averages of fields in the plane over circles of given radii.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ringweave/communicator.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/views.hpp>

namespace ringweave {

/// Positions of the nodes of an axis.
enum class PlaneNodes {
  equispaced,  ///< first + i (last - first) / (size - 1)
  chebyshev    ///< the middle minus half the extent times cos(pi i / (size - 1))
};

/// Values of a field outside its nodes, along one axis.
enum class PlaneBoundary {
  zero,      ///< none
  periodic,  ///< repeated after size * spacing: the end does not repeat the beginning
  mirror     ///< reflected about the first and the last node
};

/// The nodes of one axis, ascending.
struct PlaneAxis {
  std::int64_t size = 0;                         ///< number of nodes, at least 2
  double first = -1;                             ///< coordinate of the first node
  double last = 1;                               ///< coordinate of the last node
  PlaneNodes nodes = PlaneNodes::equispaced;     ///< their positions
  PlaneBoundary boundary = PlaneBoundary::zero;  ///< at both ends

  double spacing() const {  ///< of equispaced nodes
    return (last - first) / static_cast<double>(size - 1);
  }
  /// Returns the coordinate of node i, 0 to size - 1.
  double node(std::int64_t i) const;

  /// Recognises equispaced and Chebyshev nodes to 1e-9 of their spacing.
  /// Error  DataError, naming `name`, the first node that fits neither, what was expected and what
  ///        was found; also for fewer than 2 nodes, for nodes that do not ascend, and for a
  ///        periodic axis of Chebyshev nodes.
  static PlaneAxis of_nodes(std::span<const double> nodes, PlaneBoundary boundary,
                            const std::string& name);

  friend bool operator==(const PlaneAxis&, const PlaneAxis&) = default;  ///< compares all members
};

/// A rectangle of nodes. Fields on it are stored [y][x].
struct PlaneGrid {
  PlaneAxis x;  ///< of values within a row
  PlaneAxis y;  ///< of rows

  std::int64_t n_nodes() const { return x.size * y.size; }               ///< of the rectangle
  friend bool operator==(const PlaneGrid&, const PlaneGrid&) = default;  ///< compares all members
};

/// Interpolant by which a field is continued between its nodes.
enum class GyroMethod {
  bilinear,  ///< order 2; equispaced nodes
  bicubic,   ///< order 4; equispaced nodes, 10 or more along an axis with boundary zero
  dct,       ///< cosine series of the padded field; for fields that vanish smoothly at the edge
  chebyshev  ///< polynomials through Chebyshev nodes; boundary zero
};

/// Sums over radii that calls form: those of `sum` and `each_adjoint`.
enum class GyroSums {
  /// Sums are formed of 8 blocks of radii at most, which depend on the radii alone, so that sums
  /// have the same bits on any number of ranks. Radii are cut into no more parts than that.
  formed,
  /// Sums are refused. Radii are cut into as many parts as there are ranks for, and sums take no
  /// memory.
  none
};

/// Numbers of fields and results.
enum class GyroNumbers {
  any,     ///< float or double, as each call says
  doubles  ///< calls with floats are refused, and no memory is held to convert them
};

/// Specification of gyroaverages, the same on every rank.
struct GyroSpec {
  PlaneGrid grid;  ///< nodes of the fields
  /// Radii in the units of the coordinates, 0 or more. Radius 0 is the identity.
  std::vector<double> radii;
  GyroMethod method = GyroMethod::bicubic;  ///< interpolant of the fields
  /// Nodes of a result along x and y: 0, those of the field; else that many equispaced nodes with
  /// the same ends (method chebyshev).
  std::int64_t targets_x = 0;
  std::int64_t targets_y = 0;  ///< as targets_x
  /// Nodes added at each end of an axis with boundary zero (method dct), at least half the largest
  /// radius over the spacing; -1: the least.
  std::int64_t padding = -1;
  /// Number of fields of each call (`pairs` and `sum`: for each radius).
  std::int64_t n_fields = 1;
  GyroSums sums = GyroSums::formed;        ///< over radii
  GyroNumbers numbers = GyroNumbers::any;  ///< of fields and results
  /// Bytes of tables and scratch that this rank may hold, on a device where the backend is one; 0:
  /// all that its node has, or its share of the device's free memory. Operators of method chebyshev
  /// that do not fit are made again in every call, some radii at a time.
  std::int64_t most_bytes = 0;
  Backend backend = Backend::host;  ///< of the averages
  /// Memory of fields and results. MemorySpace::device, with Backend::cuda: calls take views of the
  /// device's memory. Sums over radii, the folding of method chebyshev and the exchange of shared
  /// rows use the host's memory.
  MemorySpace data = MemorySpace::host;
};

/// The part of a rank: results of its radii and fields in its rows. Ranges are [begin, end).
struct GyroPart {
  std::int64_t radius_begin = 0;  ///< of GyroSpec::radii
  std::int64_t radius_end = 0;    ///< after the last radius
  std::int64_t field_begin = 0;   ///< of GyroSpec::n_fields
  std::int64_t field_end = 0;     ///< after the last field
  std::int64_t row_begin = 0;     ///< of results
  std::int64_t row_end = 0;       ///< after the last row
  /// Rows of fields: the same, but all where the method needs whole fields (dct, chebyshev).
  std::int64_t field_row_begin = 0;
  std::int64_t field_row_end = 0;  ///< after the last row

  std::int64_t n_radii() const { return radius_end - radius_begin; }  ///< radii of the part
  std::int64_t n_fields() const { return field_end - field_begin; }   ///< fields of the part
  std::int64_t n_rows() const { return row_end - row_begin; }         ///< of results
  std::int64_t n_field_rows() const { return field_row_end - field_row_begin; }  ///< of fields
  /// The rank has no results.
  bool is_empty() const { return n_radii() * n_fields() * n_rows() == 0; }
  friend bool operator==(const GyroPart&, const GyroPart&) = default;  ///< compares all members
};

/// Takes how much is done, and of how much: of a rank's radii, those that have tables; of the
/// averages of one field over one radius that a call forms on a rank; of rows, or of fields on a
/// device, where radii differ from node to node.
using GyroProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Averages of fields f(x, y) over circles of radius rho about the nodes,
///
///     (G f)(x, y) = 1/(2 pi) integral_0^2pi f(x + rho cos t, y + rho sin t) dt,
///
/// exact for the interpolant of the method: arcs are integrated between grid lines, not sampled.
/// Set up once, applied often: after the first call, which names its stages, calls allocate and
/// plan nothing but operators that are made again (GyroSpec::most_bytes).
///
/// Views hold this rank's part: [component][row][x], rows of GyroPart. Results have the nodes of
/// the targets, fields those of the grid; a transpose exchanges both. Components of a call are
///   fields of every radius  [radius of the part][field of the part]
///   fields                  [field of the part]
/// T is float or double; arithmetic is double. Results are bitwise the same for any number of
/// threads. For ranks that share radii or fields they are bitwise the same, too; for ranks that
/// share rows of bilinear and bicubic averages to 1e-13. On a device a call gives the same bits in
/// every run; the host and other numbers of ranks differ to 1e-12. Ranks of a node take its devices
/// in turn. One call at a time per object. Members marked * are collective.
///
/// Error  of calls: UsageError on all ranks when a shape is wrong on one, a weight is not finite,
///        views are of another memory than the specification's data, or the specification leaves
///        out sums over radii; DataError on all ranks, with the first
///        place and the number, when a value is not finite; ResourceError from a device, or when
///        memory for operators fails one.
/// From   Bassik (2021), A comparison of schemes for the numerical approximation of the
///        gyroaveraging operator, New York University
class Gyroaverage {
 public:
  /// * Makes tables and plans.
  /// progress  called after every radius of this rank by method chebyshev, whose tables take long
  /// Error  UsageError on all ranks for a negative or undefined radius (named), nodes that do not
  ///        suit the method, too few nodes, too little padding (naming the least), a mirrored or
  ///        periodic axis of method chebyshev, ranks that disagree, a backend that the build lacks,
  ///        or data that are in pinned memory or on a device that the backend is not; ResourceError
  ///        when tables and scratch do not fit, or from a device.
  Gyroaverage(const Communicator& comm, const GyroSpec& spec, const GyroProgress& progress = {});
  ~Gyroaverage();
  Gyroaverage(Gyroaverage&&) noexcept;             ///< moves the state
  Gyroaverage& operator=(Gyroaverage&&) noexcept;  ///< moves the state

  /// Sets the function that gets the number of averages that this rank has formed, or given to its
  /// device; empty: none. The calling thread calls it, after averages that it forms itself: with
  /// several threads the last number may be below the total. A rank without a part does not call
  /// it. The function must not throw. Not collective.
  void on_progress(GyroProgress progress);

  const GyroSpec& spec() const;  ///< as the constructor got it
  const GyroPart& part() const;  ///< of this rank
  /// Returns the nodes of results.
  const PlaneGrid& targets() const;

  /// * Averages every field over every radius: fields -> results of every radius.
  template <class T>
  void each(ComponentView<const T> fields, ComponentView<T> results);
  /// * Averages fields of every radius over their radius: fields of every radius -> results of
  /// every radius. May work in place where targets and nodes are the same.
  template <class T>
  void pairs(ComponentView<const T> fields, ComponentView<T> results);
  /// * Sums weighted averages over all radii: fields of every radius -> results. Every rank that
  /// has the same fields and rows gets the whole sum.
  /// weights  one for each radius of the specification
  template <class T>
  void sum(ComponentView<const T> fields, std::span<const double> weights,
           ComponentView<T> results);

  // Exact transposes.

  /// * Applies the transpose of each(): results of every radius -> fields, the sum over all radii.
  template <class T>
  void each_adjoint(ComponentView<const T> results, ComponentView<T> fields);
  /// * Applies the transpose of pairs(): results of every radius -> fields of every radius.
  template <class T>
  void pairs_adjoint(ComponentView<const T> results, ComponentView<T> fields);
  /// * Applies the transpose of sum(): results -> fields of every radius, times their weights.
  template <class T>
  void sum_adjoint(ComponentView<const T> results, std::span<const double> weights,
                   ComponentView<T> fields);

  // The same for fields and results in the memory of this rank's device, with spec().data
  // MemorySpace::device. Inputs must be there when a call begins, which does not wait for other
  // streams; outputs are there when it returns.

  /// * Does each() on the device.
  template <class T>
  void each(ComponentView<const T, MemorySpace::device> fields,
            ComponentView<T, MemorySpace::device> results);
  /// * Does pairs() on the device, also in place.
  template <class T>
  void pairs(ComponentView<const T, MemorySpace::device> fields,
             ComponentView<T, MemorySpace::device> results);
  /// * Does sum() on the device.
  template <class T>
  void sum(ComponentView<const T, MemorySpace::device> fields, std::span<const double> weights,
           ComponentView<T, MemorySpace::device> results);
  /// * Does each_adjoint() on the device.
  template <class T>
  void each_adjoint(ComponentView<const T, MemorySpace::device> results,
                    ComponentView<T, MemorySpace::device> fields);
  /// * Does pairs_adjoint() on the device.
  template <class T>
  void pairs_adjoint(ComponentView<const T, MemorySpace::device> results,
                     ComponentView<T, MemorySpace::device> fields);
  /// * Does sum_adjoint() on the device.
  template <class T>
  void sum_adjoint(ComponentView<const T, MemorySpace::device> results,
                   std::span<const double> weights, ComponentView<T, MemorySpace::device> fields);

  /// Indicates the error to expect of the last call, the largest of the fields that this rank had.
  /// Of a field: dct, the largest value at the edge over the largest; chebyshev, the largest of the
  /// coefficients of the highest tenth of degrees over the largest one, 0 for a transpose; else 0.
  double indicator() const;

  /// Returns the seconds of "halo", "transform", "sides", "operator", "sum" of this rank so far.
  StageTimes& times();
  std::int64_t bytes() const;            ///< of tables and scratch on this rank, or its device
  std::int64_t halo_bytes_sent() const;  ///< to other ranks in the last call

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One node of a field and its weight in an average.
struct GyroWeight {
  std::int64_t x = 0;  ///< column of the node
  std::int64_t y = 0;  ///< row of the node
  double weight = 0;   ///< of its value in the average
};

/// Computes the row of the operator that belongs to one target: the average over the circle of
/// radius rho about the node (x, y) of the grid, or about any point in it, is the sum of the
/// weights times the field. Nodes occur once at most, rows ascending. For users' own matrices, and
/// for radii that differ from target to target. Not collective.
/// x, y, rho  in the units of the coordinates
/// padding    of method dct: GyroSpec::padding
/// Error      UsageError as those of Gyroaverage, and for points outside of the grid.
std::vector<GyroWeight> circle_row(const PlaneGrid& grid, GyroMethod method, double x, double y,
                                   double rho, std::int64_t padding = -1);

/// Averages fields over circles whose radius differs from node to node, with the interpolants of
/// Gyroaverage: row (x, y) of the operator is circle_row() of that node and its radius. Rows are
/// made on the fly, in O(rho / h) each, and not kept. OpenMP; not collective; the same bits for any
/// number of threads. T is float or double; arithmetic is double.
/// method   bilinear or bicubic
/// backend  cuda: on this thread's device, in the same bits in every run; the host differs to 1e-12
/// radii    of the nodes of rows [row_begin, row_end), [row][x]; in the units of the coordinates
/// fields   whole planes, [field][y][x]
/// results  rows [row_begin, row_end) of them, [field][row][x]; overwritten
/// progress called by the calling thread, now and then; it must not throw
/// Error    UsageError as those of Gyroaverage; for another method, rows that the grid lacks, a
///          radius that is negative or not finite (named), other shapes, and a backend that the
///          build lacks; ResourceError from a device
template <class T>
void gyroaverage_with_radii(const PlaneGrid& grid, GyroMethod method, std::span<const double> radii,
                            std::int64_t row_begin, std::int64_t row_end,
                            ComponentView<const T> fields, ComponentView<T> results,
                            Backend backend = Backend::host, const GyroProgress& progress = {});

/// Adds the transpose of gyroaverage_with_radii() from rows [row_begin, row_end) of results to
/// whole planes. Takes 16 planes of doubles for each field on the host. Not collective.
/// results  rows [row_begin, row_end), [field][row][x]; read only
/// fields   whole planes, [field][y][x]; added to
/// Error    as gyroaverage_with_radii(); ResourceError also when memory fails
template <class T>
void gyroaverage_with_radii_adjoint(const PlaneGrid& grid, GyroMethod method,
                                    std::span<const double> radii, std::int64_t row_begin,
                                    std::int64_t row_end, ComponentView<const T> results,
                                    ComponentView<T> fields, Backend backend = Backend::host,
                                    const GyroProgress& progress = {});

}  // namespace ringweave
