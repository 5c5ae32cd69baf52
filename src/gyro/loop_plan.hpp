// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "gyro/gyro_plan.hpp"
#include "gyro/scheme.hpp"

namespace ringweave::detail::inline gyro {

/// Plan of the loops of a rank over its radii and fields, and their memory.
struct LoopPlan {
  GyroPart part;
  std::int64_t field_plane = 0;   ///< values of a field in the rows of this rank
  std::int64_t target_plane = 0;  ///< of a result
  std::int64_t most_planes = 1;   ///< of one load
  std::int64_t first_block = 0;   ///< of radii, of this rank
  std::int64_t end_block = 0;
  bool forms_sums = true;
  bool takes_floats = true;
  MemorySpace data = MemorySpace::host;  ///< of fields and results
  int n_threads = 1;
  /// Workers of one thread each, which share many loads; 0: one worker has all threads.
  int n_workers = 0;
  bool has_whole_team = true;  ///< a worker with all threads, for few loads
  /// Radii whose operators are held at once. Fewer than those of the part: they are made again in
  /// every call.
  std::int64_t radii_at_once = 0;
  /// Operators are made again in calls, of this rank or another, or a device may fail there.
  bool calls_may_fail = false;
  /// Batches of fields whose blocks are held before they are added.
  std::int64_t round_batches = 1;

  std::int64_t n_batches() const { return (part.n_fields() + most_planes - 1) / most_planes; }
  std::int64_t n_own_blocks() const { return end_block - first_block; }
  /// Returns the doubles that a worker holds for planes of floats, or of a device: those of a load,
  /// and as many of a result.
  std::int64_t converted_size() const {
    return takes_floats || data == MemorySpace::device ? most_planes * larger_plane() : 0;
  }
  std::int64_t larger_plane() const { return std::max(field_plane, target_plane); }
  bool remakes_operators() const { return radii_at_once < part.n_radii(); }
  /// Tells whether sums of a call are few loads for the workers.
  bool sums_as_whole_team() const {
    return n_workers == 0 || (forms_sums && 2 * n_own_blocks() * n_batches() < n_workers);
  }

  std::int64_t block_bytes(std::int64_t n_blocks) const;  ///< of planes of blocks in sums
  /// Bytes of all workers where the scheme has its memory, and on the host, if that is elsewhere.
  std::int64_t scratch_bytes(const Scheme& scheme, std::int64_t n_blocks) const;
  std::int64_t host_scratch_bytes(const Scheme& scheme, std::int64_t n_blocks) const;
  std::int64_t table_bytes(const Scheme& scheme) const;  ///< held at once
  std::int64_t making_bytes(
      const Scheme& scheme) const;  ///< in addition to tables, before there is scratch
};

/// Chooses workers, and how many operators are held, within `most_bytes` of the scheme's memory.
/// Not collective. Error  ResourceError when one radius does not fit.
/// may_remake  operators that do not fit may be made again in every call
LoopPlan plan_loops(const GyroPlan& plan, int rank, const Scheme& scheme, int n_threads,
                    std::int64_t most_bytes, bool may_remake);

}  // namespace ringweave::detail::inline gyro
