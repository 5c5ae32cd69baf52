// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "softdevice/machine/program.hpp"

namespace softdevice {

/// Counts of a kernel over all its launches. Memory in the units of hardware: sectors of 32 bytes,
/// banks of 4 bytes of which 32 are served at a time.
struct LaunchCounts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::array<std::uint64_t, pipe_names.size()> instructions{};  ///< of warps, by pipe
  std::uint64_t lanes = 0;  ///< of all instructions: 32 each where nothing diverges
  std::uint64_t global_requests = 0;
  std::uint64_t global_bytes = 0;
  std::uint64_t global_sectors = 0;
  std::uint64_t distinct_sectors = 0;  ///< each counted once in a launch
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t shared_passes = 0;  ///< at least one for each 128 bytes of a request

  void add(const LaunchCounts& other);
  /// Multiplies all but the launches, where only some of the blocks were run.
  void scale(double factor);
};

/// Adds the counts of a launch to those of its kernel, which SOFTDEVICE_COUNTS writes at the end.
void add_counts(const Program& kernel, const LaunchCounts& counts);

/// Forgets the sectors of the launch before.
void begin_sectors();
/// Returns whether a sector is new in this launch.
bool is_new_sector(std::uint64_t sector);

}  // namespace softdevice
