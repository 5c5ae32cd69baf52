// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/gyro_batches.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <utility>

#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "gyro/gyro_checks.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Planes of a rank in one batch. More gain nothing, and progress shows between batches.
constexpr std::int64_t usual_bytes = std::int64_t{4} << 30;

std::int64_t bytes_of_planes(const GyroJob& job, const GyroPart& part) {
  const GyroBuffers buffers = buffers_of(job, part);
  return bytes_of(job.output.precision) *
         (buffers.n_in * buffers.in_size + buffers.n_out * buffers.out_size +
          buffers.n_between * buffers.between_size);
}

/// Scratch of the workers of a rank, and sums of blocks of radii.
std::int64_t scratch_of(const GyroPlan& plan, const GyroPart& part) {
  const std::int64_t planes = std::min(plan.most_planes, part.n_fields());
  const std::int64_t n_loads = part.n_radii() * ((part.n_fields() + planes - 1) / planes);
  const std::int64_t n_threads = omp_get_max_threads();
  const std::int64_t workers = plan.row_parts == 1 && n_loads >= n_threads ? n_threads : 1;
  const std::int64_t plane =
      std::max(part.n_field_rows() * plan.grid.x.size, part.n_rows() * plan.targets.x.size) *
      std::int64_t{sizeof(double)};
  return planes * (workers * (plan.scratch_bytes_of_field + 2 * plane) + plan.n_blocks() * plane);
}

/// tables_of  radii whose tables are there at once: all of the rank, or 1
MemoryEstimate memory_of(const GyroJob& job, const GyroPlan& plan, int rank,
                         std::int64_t tables_of) {
  const GyroPart part = plan.part(rank);
  const GyroBuffers buffers = buffers_of(job, part);
  const std::int64_t number = bytes_of(job.output.precision);
  const std::int64_t n_radii = std::max<std::int64_t>(part.n_radii(), 1);
  const bool works = !part.is_empty();
  return with_program(
      {{"fields", number * buffers.n_in * buffers.in_size},
       {"averages", number * buffers.n_out * buffers.out_size},
       {"averages of averages", number * buffers.n_between * buffers.between_size},
       {"tables", works ? plan.table_bytes / n_radii * std::min(tables_of, n_radii) : 0},
       {"scratch", works ? scratch_of(plan, part) : 0}});
}

/// Bytes of tables and scratch that this rank may hold beside its planes. Collective.
std::int64_t bytes_beside_planes(const Run& run, const GyroJob& job, const GyroPart& part) {
  const Communicator node = run.comm.node_local();
  const std::int64_t share =
      std::min(node.min(available_bytes()) / node.size(), available_bytes_of_process());
  return std::max<std::int64_t>(share - bytes_of_planes(job, part), 1);
}

/// Plans batches of so many fields.
GyroPlan planned(const Run& run, GyroJob& job, std::int64_t n_fields) {
  job.spec.n_fields = n_fields;
  return agreed(run.comm, [&] { return plan_gyroaverage(job.spec, run.comm.size()); });
}

[[noreturn]] void refuse(const Run& run, const GyroJob& job, const MemoryEstimate& estimate) {
  const MemoryShortage shortage = memory_shortage(run.comm, estimate.buffers());
  const bool of_node = shortage.of_node > 0;
  const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  const bool is_stencil =
      job.spec.method == GyroMethod::bilinear || job.spec.method == GyroMethod::bicubic;
  throw ResourceError(fmt::format(
      "one field of {} needs {} on one {}, which has {} less than that; use {}--precision single "
      "or fewer radii (--dry-run shows what needs how much)",
      job.options.input, text(of_node ? shortage.node_needs : shortage.rank_needs),
      of_node ? "node" : "rank (ulimit -v)", text(of_node ? shortage.of_node : shortage.of_rank),
      is_stencil ? "more nodes, whose ranks share its rows, "
      : job.spec.method == GyroMethod::dct
          ? "--method bicubic, whose fields are cut into rows for several ranks (those of dct "
            "cannot be), "
          : "more nodes, "));
}

}  // namespace

GyroBuffers buffers_of(const GyroJob& job, const GyroPart& part) {
  if (part.is_empty()) return {};
  const GyroSpec& spec = job.spec;
  const std::int64_t targets_x = spec.targets_x > 0 ? spec.targets_x : spec.grid.x.size;
  std::int64_t of_field = part.n_field_rows() * spec.grid.x.size;
  std::int64_t of_result = part.n_rows() * targets_x;
  const auto components = [&](const FieldNumbers& numbers) {
    return (numbers.has_rho ? part.n_radii() : 1) * part.n_fields();
  };
  GyroBuffers buffers{components(job.numbers_in), of_field, components(job.numbers_out), of_result};
  if (job.combination == GyroCombination::twice && of_field != of_result)
    buffers = {buffers.n_in, of_field, buffers.n_out, of_result, part.n_radii() * part.n_fields(),
               of_field};
  if (job.is_adjoint()) std::swap(buffers.in_size, buffers.out_size);
  return buffers;
}

GyroBatches plan_batches(Run& run, GyroJob& job) {
  agree(run.comm, [&] { check_gyro_spec(job.spec); });
  GyroBatches batches{job.n_fields, job.n_fields};
  std::int64_t tables_of = ssize64(job.spec.radii);
  const auto plan = [&] {
    batches.plan = planned(run, job, batches.size);
    batches.memory = memory_of(job, batches.plan, run.comm.rank(), tables_of);
  };
  const auto is_good = [&] {
    const GyroPart part = batches.plan.part(run.comm.rank());
    const bool is_usual = run.comm.max(bytes_of_planes(job, part)) <= usual_bytes;
    return (is_usual || batches.size == 1) && fits_memory(run, batches.memory);
  };
  // Operators of method chebyshev can be made anew in every call, where they do not fit.
  const bool may_remake = job.spec.method == GyroMethod::chebyshev;
  for (plan(); !is_good(); plan()) {
    if (may_remake && tables_of > 1 && !fits_memory(run, batches.memory)) {
      tables_of = 1;
    } else if (batches.size > 1) {
      batches.size = (batches.size + 1) / 2;
    } else {
      refuse(run, job, batches.memory);
    }
  }
  // As many batches, but of equal size.
  const std::int64_t count = batches.count();
  batches.size = (batches.n_fields + count - 1) / count;
  plan();
  job.spec.most_bytes = bytes_beside_planes(run, job, batches.plan.part(run.comm.rank()));
  return batches;
}

}  // namespace ringweave::detail::inline app
