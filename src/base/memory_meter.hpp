// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline base {

/// Counts the bytes held by all Buffers of this process, at present and at most so far. Thread
/// safe. Memory plans are checked against the high-water mark, which leaves out code, libraries and
/// small tables.
class MemoryMeter {
 public:
  static void add(std::int64_t bytes);
  static void remove(std::int64_t bytes);
  static std::int64_t current_bytes();
  static std::int64_t high_water_bytes();
  /// Restarts the high-water mark at the present level, for tests and for stages measured
  /// separately.
  static void reset_high_water();

  /// Large blocks of new memory touched at allocation: bytes and seconds so far.
  static void add_touched(std::int64_t bytes, double seconds);
  static std::int64_t touched_bytes();
  static double touch_seconds();
};

/// Resident memory according to the operating system: at present, and at most so far (Linux VmRSS,
/// VmHWM); 0 if unknown.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

/// Returns the address space in use (Linux VmSize); 0 if unknown.
std::int64_t virtual_bytes();

/// Returns the memory this process may still use, given the machine's free memory and the limits of
/// its control groups.
std::int64_t available_bytes();

/// Returns the bytes left within this process's own limit (ulimit -v); the largest number without a
/// limit.
std::int64_t available_bytes_of_process();

}  // namespace ringweave::detail::inline base
