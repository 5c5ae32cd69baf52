// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/planned_points.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "nonuniform/point_memory.hpp"
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
  require_memory_for(comm, bytes, "points", bytes_among);
  return taps;
}

}  // namespace

PointReport report_of(const PointSpec& spec, const TapChoice& choice, const PointPlan& plan) {
  const PointLoad most = plan.most();
  const PointLoad all = plan.total();
  return {.theta_taps = choice.theta.width,
          .phi_taps = choice.phi.width,
          .fine_rows = choice.theta.length,
          .fine_columns = choice.phi.length,
          .theta_oversampling = static_cast<double>(choice.theta.length) / (spec.lmax + 1),
          .phi_oversampling = static_cast<double>(choice.phi.length) / (2 * spec.mmax + 2),
          .predicted_error = choice.error,
          .points = plan.n_points(),
          .most_points = most.points,
          .mean_points = static_cast<double>(all.points) / plan.n_ranks(),
          .most_rows = most.rows,
          .mean_rows = static_cast<double>(all.rows) / plan.n_ranks()};
}

PlannedPoints::PlannedPoints(const Communicator& comm, const PointSpec& asked,
                             const PointAngles& angles,
                             const std::shared_ptr<const FineTaps>& field)
    : has_psi_(comm.max(std::int64_t{angles.psi.empty() ? 0 : 1}) > 0),
      spec_(agreed_spec(comm, asked, has_psi_)),
      taps_(taps_of(comm, spec_, angles, has_psi_, field)),
      exchange_(comm, taps_->rows(untouched_rows(field)),
                RowCosts::typical(taps_->rows(untouched_rows(field))), angles,
                {.most_components = spec_.fields.n_components(),
                 .mpi_count_limit = spec_.exchange.mpi_count_limit}),
      report_(report_of(spec_, taps_->choice, exchange_.plan())) {
  agree(comm, [&] { sums_ = {spec_.fields.n_components(), exchange_.summed().size()}; });
}

/// Computes the detectors' values, T + Q cos(2 psi) + U sin(2 psi), in component 0.
void PlannedPoints::detect() {
  double* t = sums_.view().data();
  const std::int64_t n = sums_.size();
  const std::int64_t q = (sums_.n_components() - 2) * n;
  const double* psi = exchange_.summed().psi.data();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const double seen = t[q + i] * std::cos(2 * psi[i]) + t[q + n + i] * std::sin(2 * psi[i]);
    t[i] = q > 0 ? t[i] + seen : seen;
  }
}

/// Applies the transpose of detect().
void PlannedPoints::emit() {
  double* t = sums_.view().data();
  const std::int64_t n = sums_.size();
  const std::int64_t q = (sums_.n_components() - 2) * n;
  const double* psi = exchange_.summed().psi.data();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = t[i];
    t[q + n + i] = value * std::sin(2 * psi[i]);
    t[q + i] = value * std::cos(2 * psi[i]);
  }
}

template <class T>
void PlannedPoints::gather(ComponentView<T> values) {
  if (has_psi_) detect();
  exchange_.gather<T>(sums_.view().components(0, n_components()), values);
}

template <class T>
void PlannedPoints::scatter(ComponentView<const T> values) {
  exchange_.scatter<T>(values, sums_.view().components(0, n_components()));
  if (has_psi_) emit();
}

template void PlannedPoints::gather(ComponentView<double>);
template void PlannedPoints::gather(ComponentView<float>);
template void PlannedPoints::scatter(ComponentView<const double>);
template void PlannedPoints::scatter(ComponentView<const float>);

}  // namespace ringweave::detail::inline nonuniform
