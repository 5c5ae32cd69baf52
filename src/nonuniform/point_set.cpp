// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <bit>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "nonuniform/planned_points.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr double largest_epsilon = 0.1;

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

TapChoice choose(const Communicator& comm, const PointSpec& spec, std::int64_t n_points) {
  return choose_taps({.lmax = spec.lmax,
                      .mmax = spec.mmax,
                      .epsilon = spec.epsilon,
                      .n_points = comm.sum(n_points),
                      .n_components = static_cast<int>(spec.fields.n_components())});
}

FineRows rows_of(const TapChoice& choice) {
  return {std::make_shared<const RingGrid>(RingGrid::fejer(choice.theta.length, choice.phi.length)),
          choice.theta.width, choice.phi.width};
}

}  // namespace

PointSpec PointSpec::checked() const {
  if (lmax < 0 || mmax < -1 || mmax > lmax) {
    throw UsageError(fmt::format(
        "lmax = {}, mmax = {}; expected 0 <= mmax <= lmax, or mmax = -1 for lmax", lmax, mmax));
  }
  if (!(epsilon >= least_epsilon && epsilon <= largest_epsilon)) {
    throw UsageError(
        fmt::format("epsilon = {}; expected {} to {}", epsilon, least_epsilon, largest_epsilon));
  }
  PointSpec spec = *this;
  if (mmax < 0) spec.mmax = lmax;
  return spec;
}

std::int64_t PointSpec::digest() const {
  Digest digest;
  digest.add(lmax);
  digest.add(mmax < 0 ? lmax : mmax);
  digest.add(backend);
  digest.add(std::bit_cast<std::int64_t>(epsilon));
  for (const FieldSet::Field& field : fields.fields()) digest.add(field.spin);
  digest.add(exchange.folding);
  digest.add(exchange.schedule);
  digest.add(exchange.precision);
  digest.add(exchange.mpi_count_limit);
  return digest.value();
}

PlannedPoints::PlannedPoints(const Communicator& comm, const PointSpec& asked,
                             const PointAngles& angles)
    : has_psi(comm.max(std::int64_t{angles.psi.empty() ? 0 : 1}) > 0),
      spec(agreed_spec(comm, asked, has_psi)),
      choice(choose(comm, spec, ssize64(angles.theta))),
      theta_kernel(choice.theta.width, choice.theta.oversampling),
      phi_kernel(choice.phi.width, choice.phi.oversampling),
      grid{choice.theta.length, choice.phi.length, choice.theta.width, choice.phi.width},
      exchange(comm, rows_of(choice), RowCosts::typical(rows_of(choice)), angles,
               {.most_components = spec.fields.n_components(),
                .mpi_count_limit = spec.exchange.mpi_count_limit}) {
  const PointPlan& plan = exchange.plan();
  const PointLoad most = plan.most();
  const PointLoad all = plan.total();
  report = {.theta_taps = choice.theta.width,
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

PointSet::PointSet(const Communicator& comm, const PointSpec& spec, std::span<const double> theta,
                   std::span<const double> phi, std::span<const double> psi)
    : planned_(std::make_shared<PlannedPoints>(comm, spec, PointAngles{theta, phi, psi})) {}

std::int64_t PointSet::size() const { return planned_->exchange.n_listed(); }
std::int64_t PointSet::n_components() const {
  return planned_->has_psi ? 1 : planned_->spec.fields.n_components();
}
const PointReport& PointSet::report() const { return planned_->report; }
std::int64_t PointSet::bytes() const { return planned_->exchange.bytes(); }

}  // namespace ringweave
