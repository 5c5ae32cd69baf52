// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/planned_points.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "nonuniform/point_memory.hpp"
#include "nonuniform/row_tasks.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

bool can_have_psi(const FieldSet& fields) {
  const auto all = fields.fields();
  if (all.size() == 1) return all.front().spin == 2;
  return all.size() == 2 && all[0].spin == 0 && all[1].spin == 2;
}

/// Returns the specification if all ranks have the same and it can be met.
PointSpec agreed_spec(const Communicator& comm, const PointSpec& asked, bool has_psi) {
  PointSpec spec = agreed(comm, [&] {
    PointSpec checked = asked.checked();
    if (has_psi && !can_have_psi(checked.fields))
      throw UsageError("points with psi need the fields T, Q, U or Q, U");
    return checked;
  });
  Digest digest;
  digest.add(spec.digest());
  digest.add(has_psi);
  agree_same(comm, "the transform to points (lmax, mmax, fields, epsilon, options, psi or not)",
             digest.value());
  return spec;
}

/// Computes the signal of detectors, T + Q cos(2 psi) + U sin(2 psi), in component 0 of [T, Q, U]
/// or of [Q, U].
void detect(ComponentView<double> sums, View<const double> psi) {
  const bool has_t = sums.n_components() == 3;
  const View<double> seen = sums.component(0);
  const View<const double> q = sums.component(sums.n_components() - 2);
  const View<const double> u = sums.component(sums.n_components() - 1);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < psi.size(); ++i) {
    const double polarised = q[i] * std::cos(2 * psi[i]) + u[i] * std::sin(2 * psi[i]);
    seen[i] = has_t ? seen[i] + polarised : polarised;
  }
}

/// Applies the transpose of detect().
void emit(ComponentView<double> sums, View<const double> psi) {
  const View<const double> seen = sums.component(0);
  const View<double> q = sums.component(sums.n_components() - 2);
  const View<double> u = sums.component(sums.n_components() - 1);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < psi.size(); ++i) {
    const double value = seen[i];
    u[i] = value * std::sin(2 * psi[i]);
    q[i] = value * std::cos(2 * psi[i]);
  }
}

UntouchedRows untouched_rows(const std::shared_ptr<const FineTaps>& field) {
  return field == nullptr ? UntouchedRows::left_out : UntouchedRows::kept;
}

/// Returns the taps of a field, or taps chosen for the points, if the memory holds the points.
std::shared_ptr<const FineTaps> taps_of(const Communicator& comm, const PointSpec& spec,
                                        const PointAngles& angles, bool has_psi,
                                        const std::shared_ptr<const FineTaps>& field) {
  PointProblem problem{.spec = spec};
  problem.n_points = comm.sum(ssize64(angles.theta));
  problem.n_angles = has_psi ? 3 : 2;
  problem.n_threads = omp_get_max_threads();
  std::shared_ptr<const FineTaps> taps = field;
  std::int64_t bytes = 0;
  const auto bytes_among = [&](int n_ranks) {
    problem.n_ranks = n_ranks;
    return memory_of_set(problem, even_plan(problem, taps->rows(untouched_rows(field)))).peak();
  };
  agree(comm, [&] {
    if (taps == nullptr) taps = std::make_shared<const FineTaps>(spec, problem.n_points);
    // Of points listed beyond a rank's share: two indices, and angles to send.
    const std::int64_t more = ssize64(angles.theta) - problem.n_points / comm.size();
    bytes = bytes_among(comm.size()) + std::max<std::int64_t>(more, 0) * 8 * (1 + problem.n_angles);
  });
  // Checked again for every set of a field, since those before it may still be there.
  require_memory_for(comm, bytes, "points", bytes_among);
  return taps;
}

}  // namespace

PlannedPoints::PlannedPoints(const Communicator& comm, const PointSpec& asked, bool has_psi)
    : comm_(comm), has_psi_(has_psi), spec_(agreed_spec(comm, asked, has_psi)) {}

std::int64_t PlannedPoints::most_rows() const {
  std::int64_t most = 0;
  for (const PointTile& tile : tiles()) most = std::max(most, tile.rows.size());
  return most;
}

ListedPoints::ListedPoints(const Communicator& comm, const PointSpec& asked,
                           const PointAngles& angles, const std::shared_ptr<const FineTaps>& field)
    : PlannedPoints(comm, asked, comm.max(std::int64_t{angles.psi.empty() ? 0 : 1}) > 0) {
  taps_ = taps_of(comm, spec_, angles, has_psi_, field);
  const FineRows rows = taps_->rows(untouched_rows(field));
  exchange_.emplace(comm, rows, RowCosts::typical(rows), angles,
                    PointOptions{.most_components = spec_.fields.n_components(),
                                 .mpi_count_limit = spec_.exchange.mpi_count_limit});
  agree(comm, [&] {
    report_ = report_of(spec_, taps_->choice, plan());
    sums_ = {spec_.fields.n_components(), exchange_->summed().size()};
    for (const TileRow& tile : exchange_->summed().tiles) {
      tiles_.push_back(
          {tile.first_row, tile.points.size(), rows_near(tile.first_row, taps_->grid)});
    }
  });
}

PointSpan ListedPoints::span_of(PointRange points) const {
  const PointOrder& order = exchange_->summed();
  return {order.theta.data() + points.begin, order.phi.data() + points.begin, points.size()};
}

void ListedPoints::interpolate(std::int64_t, std::int64_t tile,
                               const RowsInMemory<const double>& rows, AnyMapView<>) noexcept {
  const PointRange points = exchange_->summed().tiles[to_size(tile)].points;
  interpolate_points(rows.taps, rows.values, rows.stride, span_of(points),
                     sums_.view().data() + points.begin, sums_.view().stride());
}

void ListedPoints::spread(std::int64_t, std::int64_t tile, RingRange range,
                          const RowsInMemory<double>& rows, AnyConstMapView<>) noexcept {
  const PointRange points = exchange_->summed().tiles[to_size(tile)].points;
  spread_points(rows.taps, span_of(points), sums_.view().data() + points.begin,
                sums_.view().stride(), range, rows.values, rows.stride);
}

void ListedPoints::gather(AnyMapView<> values) {
  if (has_psi_) detect(sums_.view(), psi());
  std::visit(
      [&]<class T>(ComponentView<T> of_type) {
        exchange_->gather<T>(sums_.view().components(0, n_components()), of_type);
      },
      values);
}

void ListedPoints::scatter(AnyConstMapView<> values) {
  std::visit(
      [&]<class T>(ComponentView<const T> of_type) {
        exchange_->scatter<T>(of_type, sums_.view().components(0, n_components()));
      },
      values);
  if (has_psi_) emit(sums_.view(), psi());
}

}  // namespace ringweave::detail::inline nonuniform
