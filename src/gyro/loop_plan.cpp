// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/loop_plan.hpp"

#include <fmt/format.h>

#include "base/checked_cast.hpp"
#include "gyro/device_plane_values.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr std::int64_t of_number = sizeof(double);

/// Bytes of a load and a result of doubles, on the host.
std::int64_t double_bytes(const LoopPlan& loops) { return 2 * loops.converted_size() * of_number; }

/// Bytes of a worker where its scheme has its memory.
std::int64_t worker_bytes(const LoopPlan& loops, const Scheme& scheme, int n_threads) {
  const std::int64_t bytes = scheme.work_bytes(loops.most_planes, n_threads);
  if (scheme.memory() == MemorySpace::host) return bytes + double_bytes(loops);
  return bytes + (loops.data == MemorySpace::device ? double_bytes(loops) / 2 : 0);
}

/// The most operators of consecutive radii that these bytes hold, at least 0.
std::int64_t radii_within(const LoopPlan& loops, const Scheme& scheme, std::int64_t bytes) {
  if (bytes < 0) return 0;  // not even scratch fits
  const GyroPart& part = loops.part;
  std::int64_t largest = 0;
  for (std::int64_t r = part.radius_begin; r < part.radius_end; ++r)
    largest = std::max(largest, scheme.table_bytes(r));
  return largest == 0 ? part.n_radii()
                      : std::clamp<std::int64_t>(bytes / largest, 0, part.n_radii());
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

[[noreturn]] void refuse(std::int64_t tables, std::int64_t scratch, std::int64_t most_bytes,
                         const char* of_what) {
  throw ResourceError(fmt::format(
      "gyroaverages: operators of {} need {} and their scratch {}, and this rank may hold {}; "
      "allow more, start more ranks on more nodes, or take fewer radii",
      of_what, megabytes(tables), megabytes(scratch), megabytes(most_bytes)));
}

}  // namespace

std::int64_t LoopPlan::block_bytes(std::int64_t n_blocks) const {
  if (!forms_sums) return 0;
  const std::int64_t others = n_blocks - n_own_blocks();
  return (round_batches * n_own_blocks() + others) * most_planes * larger_plane() * of_number;
}

std::int64_t LoopPlan::scratch_bytes(const Scheme& scheme, std::int64_t n_blocks) const {
  const std::int64_t of_workers = n_workers == 0 ? 0 : n_workers * worker_bytes(*this, scheme, 1);
  const std::int64_t of_team = has_whole_team ? worker_bytes(*this, scheme, n_threads) : 0;
  const std::int64_t of_values =
      data == MemorySpace::device ? device_plane_values_bytes().device : 0;
  return of_workers + of_team + of_values +
         (scheme.memory() == MemorySpace::host ? block_bytes(n_blocks) : 0);
}

std::int64_t LoopPlan::host_scratch_bytes(const Scheme& scheme, std::int64_t n_blocks) const {
  const std::int64_t of_values = data == MemorySpace::device ? device_plane_values_bytes().host : 0;
  return scheme.host_work_bytes(most_planes, n_threads) + double_bytes(*this) + of_values +
         block_bytes(n_blocks);
}

std::int64_t LoopPlan::table_bytes(const Scheme& scheme) const {
  std::int64_t most = 0;
  for (std::int64_t first = part.radius_begin; first < part.radius_end;
       first += std::max<std::int64_t>(1, radii_at_once)) {
    std::int64_t bytes = 0;
    for (std::int64_t r = first; r < std::min(first + radii_at_once, part.radius_end); ++r)
      bytes += scheme.table_bytes(r);
    most = std::max(most, bytes);
  }
  return most;
}

std::int64_t LoopPlan::making_bytes(const Scheme& scheme) const {
  std::int64_t most = 0;
  for (std::int64_t r = part.radius_begin; r < part.radius_end; ++r)
    most = std::max(most, scheme.making_bytes(r));
  return most;
}

LoopPlan plan_loops(const GyroPlan& plan, int rank, const Scheme& scheme, int n_threads,
                    std::int64_t most_bytes, bool may_remake) {
  LoopPlan loops;
  loops.part = plan.part(rank);
  loops.field_plane = loops.part.n_field_rows() * plan.grid.x.size;
  loops.target_plane = loops.part.n_rows() * plan.targets.x.size;
  loops.most_planes = std::min(plan.most_planes, loops.part.n_fields());
  loops.first_block = plan.part_blocks[to_size(plan.radius_part(rank))];
  loops.end_block = plan.part_blocks[to_size(plan.radius_part(rank) + 1)];
  loops.forms_sums = plan.forms_sums;
  loops.takes_floats = plan.takes_floats;
  loops.data = plan.data;
  loops.n_threads = n_threads;
  loops.radii_at_once = loops.part.n_radii();
  const auto scratch_bytes = [&] {
    const std::int64_t scratch = loops.scratch_bytes(scheme, plan.n_blocks());
    if (scheme.memory() == MemorySpace::device) return scratch;
    return std::max(scratch, loops.making_bytes(scheme));
  };
  const auto bytes = [&] { return loops.table_bytes(scheme) + scratch_bytes(); };

  // Calls of ranks that share rows are collective: one worker.
  const std::int64_t n_loads = loops.part.n_radii() * loops.n_batches();
  const bool may_share = plan.row_parts == 1 && scheme.memory() == MemorySpace::host;
  if (may_share && n_threads > 1 && n_loads >= n_threads) {
    loops.n_workers = n_threads;
    loops.has_whole_team = loops.sums_as_whole_team();
    loops.round_batches =
        std::clamp<std::int64_t>(n_threads / loops.n_own_blocks(), 1, loops.n_batches());
    if (bytes() <= most_bytes) return loops;
    loops.n_workers = 0;
    loops.has_whole_team = true;
    loops.round_batches = 1;
  }
  if (bytes() <= most_bytes) return loops;
  const std::int64_t scratch = scratch_bytes();
  if (!may_remake) refuse(loops.table_bytes(scheme), scratch, most_bytes, "all radii");
  loops.radii_at_once = radii_within(loops, scheme, most_bytes - scratch);
  if (loops.radii_at_once == 0) {
    loops.radii_at_once = 1;
    refuse(loops.table_bytes(scheme), scratch, most_bytes, "one radius");
  }
  // Every round of a sum makes all operators: rounds as long as the memory that is left allows.
  while (loops.round_batches < loops.n_batches()) {
    loops.round_batches = std::min(2 * loops.round_batches, loops.n_batches());
    if (bytes() <= most_bytes) continue;
    loops.round_batches = std::max<std::int64_t>(1, loops.round_batches / 2);
    break;
  }
  return loops;
}

}  // namespace ringweave::detail::inline gyro
