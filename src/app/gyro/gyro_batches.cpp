// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/gyro_batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/gyro_setup.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Planes of a rank in one batch. More gain nothing.
constexpr std::int64_t usual_bytes = std::int64_t{4} << 30;

/// Bytes of a plane of doubles that goes from rows to whole fields.
std::int64_t bytes_between(const GyroBuffers& buffers) {
  return buffers.n_between > 0 ? buffers.between_size * std::int64_t{sizeof(double)} : 0;
}

std::int64_t bytes_of_planes(const GyroJob& job, const GyroPart& part) {
  const GyroBuffers buffers = buffers_of(job, part);
  return bytes_of(job.output.precision) *
             (buffers.n_in * buffers.in_size + buffers.n_out * buffers.out_size +
              buffers.n_between * buffers.between_size) +
         bytes_between(buffers);
}

/// The most that this rank holds at once: while tables are made, while batches are averaged, or
/// while the error is estimated.
MemoryEstimate memory_of(const GyroJob& job, const GyroPart& part, const GyroBatches& batches) {
  const GyroBuffers buffers = buffers_of(job, part);
  const std::int64_t number = bytes_of(job.output.precision);
  const MemoryItem tables{"tables", batches.bytes.tables};
  const std::int64_t between = number * buffers.n_between * buffers.between_size;
  std::vector<MemoryItem> items =
      larger_phase({tables, {"scratch to make tables", batches.bytes.making}},
                   {{"fields", number * buffers.n_in * buffers.in_size},
                    {"averages", number * buffers.n_out * buffers.out_size},
                    {"averages of averages", between + bytes_between(buffers)},
                    tables,
                    {"scratch", batches.bytes.scratch}});
  return with_program(larger_phase(items, batches.estimate.memory));
}

/// Bytes of tables and scratch that this rank may hold besides its planes. Operators of method
/// chebyshev would fill all: an eighth is left for files and other work of the node.
/// Collective.
std::int64_t bytes_beside_planes(const Run& run, const GyroJob& job, const GyroPart& part) {
  const Communicator node = run.comm.node_local();
  const std::int64_t share =
      std::min(node.min(available_bytes()) / node.size(), available_bytes_of_process());
  const std::int64_t left = job.spec.method == GyroMethod::chebyshev ? share / 8 : 0;
  return std::max<std::int64_t>(share - left - bytes_of_planes(job, part), 1);
}

/// Returns the memory of averages on this rank within the bytes that the specification allows;
/// nothing where these do not suffice on some rank. Collective.
std::optional<GyroBytes> bytes_within(const Run& run, const GyroSpec& spec) {
  try {
    return set_up(run.comm, spec).bytes();
  } catch (const ResourceError&) {
    return std::nullopt;
  }
}

/// Plans batches of their size. Tells whether memory holds them. Collective.
bool plan_batch(const Run& run, GyroJob& job, GyroBatches& batches) {
  job.spec.n_fields = batches.size;
  batches.plan = agreed(run.comm, [&] { return plan_gyroaverage(job.spec, run.comm.size()); });
  const GyroPart part = batches.plan.part(run.comm.rank());
  // A device shares its own memory.
  const bool is_host = job.spec.backend == Backend::host;
  job.spec.most_bytes = is_host ? bytes_beside_planes(run, job, part) : 0;
  const std::optional<GyroBytes> bytes = bytes_within(run, job.spec);
  batches.bytes = bytes ? *bytes : least_bytes(run.comm, job.spec);
  if (job.options.estimate) batches.estimate = plan_estimate(run, job, batches.size);
  batches.memory = memory_of(job, part, batches);
  return bytes && fits_memory(run.comm, batches.memory);
}

/// Returns, for a message, ways to need less memory. Operators of method chebyshev are doubles, and
/// made again for each radius where not all fit.
std::string smaller_ways(const GyroaverageOptions& options, GyroMethod method) {
  const std::string estimate = options.estimate ? "no --estimate, " : "";
  const std::string usual = estimate + "--precision single or fewer radii";
  switch (method) {
    case GyroMethod::chebyshev:
      return estimate + "more nodes, whose ranks share the operator, or fewer Chebyshev nodes";
    case GyroMethod::dct:
      return "--method bicubic, whose fields are cut into rows for several ranks (those of dct "
             "cannot be), " +
             usual;
    default: return "more nodes, whose ranks share its rows, " + usual;
  }
}

}  // namespace

void require_memory(const Run& run, const GyroJob& job, const GyroBatches& batches) {
  if (batches.fits) return;
  const MemoryShortage shortage = memory_shortage(run.comm, batches.memory.buffers());
  // The share of a rank may be too little where that of all is not: this throws.
  if (shortage.largest() <= 0) set_up(run.comm, job.spec);
  const bool of_node = shortage.of_node > 0;
  const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  throw ResourceError(fmt::format(
      "one field of {} needs {} on one {}, which has {} less than that; use {}{}",
      job.options.input, text(of_node ? shortage.node_needs : shortage.rank_needs),
      of_node ? "node" : "rank (ulimit -v)", text(of_node ? shortage.of_node : shortage.of_rank),
      smaller_ways(job.options, job.spec.method),
      run.options.dry_run ? "" : " (--dry-run lists the memory of each part)"));
}

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
  const auto is_usual = [&] {
    const GyroPart part = batches.plan.part(run.comm.rank());
    return run.comm.max(bytes_of_planes(job, part)) <= usual_bytes;
  };
  while (!plan_batch(run, job, batches) || (batches.size > 1 && !is_usual())) {
    if (batches.size == 1) {
      batches.fits = false;
      return batches;
    }
    batches.size = (batches.size + 1) / 2;
  }
  // As many batches, but of equal size.
  const std::int64_t count = batches.count();
  batches.size = (batches.n_fields + count - 1) / count;
  plan_batch(run, job, batches);
  return batches;
}

}  // namespace ringweave::detail::inline app
