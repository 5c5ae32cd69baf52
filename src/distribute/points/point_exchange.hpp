// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "distribute/points/compact_indices.hpp"
#include "distribute/points/point_order.hpp"
#include "distribute/points/point_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

class PointMessages;

/// Numbers of points that a rank has to do with, for its memory.
struct PointCounts {
  std::int64_t listed = 0;
  std::int64_t summed = 0;
  std::int64_t sent = 0;      ///< listed points that others sum, one for each of them
  std::int64_t arriving = 0;  ///< summed points that others list
  std::int64_t repeated = 0;  ///< ranks that sum a listed point beyond the first, of all points
  std::int64_t in_work = 0;   ///< summed points that are sorted at once, by all threads
  std::int64_t n_angles = 2;  ///< 3 with psi
};

/// Returns the points of all ranks from those of each, [first tap], for a PointPlan. Collective.
std::vector<std::int64_t> sum_over_ranks(const Communicator& comm,
                                         const std::vector<std::int64_t>& counts);

struct PointOptions {
  std::int64_t most_components = 1;  ///< of gather() and scatter()
  /// Largest count handed to MPI; more go in several messages. Tests make it small.
  std::int64_t mpi_count_limit = std::numeric_limits<int>::max();
};

/// Points of any rank, and the ranks that sum their rows. Every rank lists points in any order and
/// number, also none. Their angles go once to the ranks that own their rows, which sort them; then
/// values go back and forth any number of times.
///
/// A rank sums each point over its own rows only. gather() adds these partial sums, ascending in
/// rows: values are equal to rounding for any number of ranks. scatter() gives a rank values in an
/// order that follows from the points alone, so that sums over points on a row are the same bit by
/// bit, whichever ranks list them, in any order, and for any number of ranks. For that, values at
/// one place are sorted.
class PointExchange {
 public:
  /// rows, costs and options must be the same on all ranks. Collective.
  /// Error  DataError on all ranks, naming the first, when angles are not finite or theta is
  ///        outside [0, pi]; UsageError when arrays differ in length or arguments among ranks;
  ///        ResourceError when memory fails one.
  PointExchange(Communicator comm, const FineRows& rows, const RowCosts& costs,
                const PointAngles& listed, const PointOptions& options = {});
  ~PointExchange();

  const Communicator& comm() const { return comm_; }
  const PointPlan& plan() const { return *plan_; }
  std::int64_t n_listed() const { return n_listed_; }
  /// The points whose rows this rank sums.
  const PointOrder& summed() const { return summed_; }

  /// Adds up the partial sums of the points that this rank lists.
  ///
  /// partial  [component][point of summed()], sums over this rank's rows; read only
  /// values   [component][listed point]; overwritten
  /// T is float or double. No allocation. Collective.
  /// Error  UsageError on all ranks when a shape is wrong or ranks differ in components; an MPI
  ///        failure ends the job.
  template <class T>
  void gather(ComponentView<const double> partial, ComponentView<T> values);
  /// Gives the values of listed points to all ranks that own one of their rows. The transpose of
  /// gather(), except that values of points at the same place are sorted.
  /// Error  the same; DataError on all ranks, naming the first, when values are not finite.
  template <class T>
  void scatter(ComponentView<const T> values, ComponentView<double> summed);

  /// Returns the bytes of plan, angles, indices and buffers.
  std::int64_t bytes() const;
  /// Predicts them, without the plan.
  static std::int64_t bytes_of(const PointCounts& points, std::int64_t most_components);
  /// Predicts the most that are there at once while the points are sorted.
  static std::int64_t bytes_while_sorting(const PointCounts& points);

 private:
  /// A listed point that several ranks sum. Its references are those up to `end` from the end of
  /// the point before.
  struct SharedPoint {
    std::int64_t point;
    std::int64_t end;
  };
  class Listing;

  void require_arguments(const FineRows& rows, const RowCosts& costs, const PointAngles& listed);
  void list_references(const Listing& listing, std::span<const double> theta, std::int64_t limit);
  static std::int64_t bytes_of_references(const PointCounts& points);
  void send_angles(Listing& listing, const PointAngles& listed);
  bool keeps_points() const;
  void assign_places(Listing& listing, const PointAngles& listed);
  template <class Places>
  void replace_by_indices(const Places& place, std::int64_t n_kept);
  template <class T>
  void require_shapes(ComponentView<const double> summed, ComponentView<const T> listed) const;
  template <class Use, class Fetch>
  void for_each_reference(const Use& use, const Fetch& fetch) const;
  std::span<const std::int64_t> rest_of(std::int64_t shared) const;

  Communicator comm_;
  PointOptions options_;
  std::int64_t n_listed_ = 0;
  std::int64_t n_angles_ = 2;  ///< 3 with psi
  std::optional<PointPlan> plan_;
  std::unique_ptr<PointMessages> messages_;
  PointOrder summed_;
  // A reference below n_sent_ is a place among the points sent to others. Beyond, it is a place in
  // summed(), for which nothing is sent.
  std::int64_t n_sent_ = 0;
  CompactIndices first_;              ///< [listed point] reference to its first partial sum
  std::vector<SharedPoint> shared_;   ///< listed points that several ranks sum, ascending
  std::vector<std::int64_t> rest_;    ///< their other references, ascending in rows
  CompactIndices arriving_;           ///< [point sent here by others] its place in summed()
  HostBuffer<double> listed_buffer_;  ///< [point sent to others][component]
  HostBuffer<double> summed_buffer_;  ///< [point sent here by others][component]
};

}  // namespace ringweave::detail::inline distribute
