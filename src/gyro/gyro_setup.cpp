// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/gyro_setup.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>

#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/schemes.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Returns the bytes of its device that this rank may hold: those asked for, or its share of the
/// free ones.
/// Chooses the device. Collective.
std::int64_t device_bytes_allowed(const Communicator& comm, const GyroSpec& spec) {
  const DeviceShare share = share_of_device(comm);
  return spec.most_bytes > 0 ? spec.most_bytes : share.usable_bytes();
}

/// Returns the bytes that this rank may hold: those asked for, or its share of the memory of its
/// node.
/// Collective.
std::int64_t bytes_allowed(const Communicator& comm, const GyroSpec& spec) {
  if (spec.backend == Backend::cuda) return device_bytes_allowed(comm, spec);
  const Communicator node = comm.node_local();
  const std::int64_t share =
      std::min(node.min(available_bytes()) / node.size(), available_bytes_of_process());
  return spec.most_bytes > 0 ? spec.most_bytes : share;
}

/// most_planes  of a load
std::unique_ptr<Scheme> make_scheme(const GyroSpec& spec, const Communicator& rows,
                                    const RowShare& share, std::int64_t most_planes) {
  const bool is_host = spec.backend == Backend::host;
  switch (spec.method) {
    case GyroMethod::dct:
      return is_host ? make_dct_scheme(spec) : make_cuda_dct_scheme(spec, most_planes);
    case GyroMethod::chebyshev: return make_chebyshev_scheme(spec, rows, share);
    default:
      return is_host ? make_stencil_scheme(spec, rows, share)
                     : make_cuda_stencil_scheme(spec, rows, share, most_planes);
  }
}

/// Bytes of one operator of method chebyshev on a rank.
std::int64_t operator_bytes(const GyroSpec& spec, const GyroPlan& plan) {
  constexpr double more_than_any_machine = 1e18;
  const double bytes = chebyshev_operator_size(spec) * sizeof(double) / plan.row_parts;
  return static_cast<std::int64_t>(std::min(bytes, more_than_any_machine));
}

/// Throws where a rank may not hold one operator. The lists of its blocks alone may be too large.
void require_operator(const GyroSpec& spec, const GyroPlan& plan, std::int64_t most_bytes) {
  if (spec.method != GyroMethod::chebyshev || operator_bytes(spec, plan) <= most_bytes) return;
  throw ResourceError(fmt::format(
      "gyroaverages: operators of one radius need {:.4g} MB, and this rank may hold {:.4g} MB; "
      "allow more, or start more ranks on more nodes",
      static_cast<double>(operator_bytes(spec, plan)) / 1e6,
      static_cast<double>(most_bytes) / 1e6));
}

GyroPlan checked_plan(const Communicator& comm, const GyroSpec& spec) {
  agree(comm, [&] { check_gyro_spec(spec); });
  agree_same(comm, "the specification of gyroaverages", digest_of(spec));
  return agreed(comm, [&] { return plan_gyroaverage(spec, comm.size()); });
}

/// The ranks of this one's group, by rank. Collective where there are several in any.
Communicator group_of(const Communicator& comm, int parts, int group) {
  return parts > 1 ? comm.split(group, comm.rank()) : Communicator::self();
}

}  // namespace

GyroBytes GyroSetup::bytes() const {
  if (!scheme) return {};
  GyroBytes bytes{loops.table_bytes(*scheme), loops.scratch_bytes(*scheme, plan.n_blocks()),
                  loops.making_bytes(*scheme)};
  if (scheme->memory() == MemorySpace::device) {
    bytes.device = bytes.tables + bytes.scratch;
    bytes.tables = 0;
    bytes.scratch = loops.host_scratch_bytes(*scheme, plan.n_blocks());
  }
  return bytes;
}

GyroBytes least_bytes(const Communicator& comm, const GyroSpec& spec) {
  if (spec.method == GyroMethod::chebyshev) {
    const GyroPlan plan = checked_plan(comm, spec);
    if (plan.is_idle(comm.rank())) return {};
    constexpr std::int64_t of_number = sizeof(double);
    const std::int64_t tables = operator_bytes(spec, plan);
    const std::int64_t scratch =
        2 * plan.most_planes * (plan.grid.n_nodes() + plan.targets.n_nodes()) * of_number;
    if (spec.backend == Backend::cuda) return {0, scratch, 0, tables};
    return {tables, scratch};
  }
  GyroSpec unlimited = spec;
  unlimited.most_bytes = std::numeric_limits<std::int64_t>::max();
  return set_up(comm, unlimited).bytes();
}

GyroSetup set_up(const Communicator& comm, const GyroSpec& spec) {
  GyroPlan plan = checked_plan(comm, spec);
  const int rank = comm.rank();
  const Communicator row_group = group_of(comm, plan.row_parts, plan.row_group(rank));
  GyroSetup setup{plan, group_of(comm, plan.radius_parts, plan.radius_group(rank))};
  const GyroPart part = plan.part(rank);
  const RowShare share{part.row_begin, part.row_end, plan.row_part(rank), plan.row_parts};
  const bool is_idle = plan.is_idle(rank);
  const std::int64_t most_bytes = bytes_allowed(comm, spec);
  LoopPlan& loops = setup.loops;
  agree(comm, [&] {
    if (is_idle) return;
    require_operator(spec, plan, most_bytes);
    setup.scheme = make_scheme(spec, row_group, share, std::min(plan.most_planes, part.n_fields()));
    loops = plan_loops(plan, rank, *setup.scheme, omp_get_max_threads(), most_bytes,
                       spec.method == GyroMethod::chebyshev);
  });
  if (!is_idle) {
    // Ranks that share rows make operators of the same radii at the same time; those that share
    // radii agree on the outcome of each round.
    loops.radii_at_once = row_group.min(loops.radii_at_once);
    loops.round_batches = setup.radius_group.min(row_group.min(loops.round_batches));
  }
  const bool may_fail = loops.remakes_operators() || spec.backend == Backend::cuda;
  loops.calls_may_fail = comm.max(std::int64_t{may_fail}) != 0;
  return setup;
}

}  // namespace ringweave::detail::inline gyro
