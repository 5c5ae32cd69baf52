// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <bit>
#include <utility>

#include "distribute/mpi/agree.hpp"
#include "nonuniform/planned_points.hpp"
#include "ringweave/error.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr double largest_epsilon = 0.1;

}  // namespace

PointSpec PointSpec::checked() const {
  require_degrees(lmax, mmax);
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

PointSet::PointSet(const Communicator& comm, const PointSpec& spec, std::span<const double> theta,
                   std::span<const double> phi, std::span<const double> psi)
    : planned_(std::make_shared<ListedPoints>(comm, spec, PointAngles{theta, phi, psi}, nullptr)) {}

PointSet::PointSet(std::shared_ptr<PlannedPoints> planned) : planned_(std::move(planned)) {}

std::int64_t PointSet::size() const { return planned_->n_listed(); }
std::int64_t PointSet::n_components() const { return planned_->n_components(); }
const PointReport& PointSet::report() const { return planned_->report(); }
std::int64_t PointSet::bytes() const { return planned_->bytes(); }

}  // namespace ringweave
