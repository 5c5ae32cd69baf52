// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Bytes held by all Buffers of this process, now and at most so far. Thread safe.
/// The high-water is what memory plans are checked against; it leaves out code, libraries and small
/// tables.
class MemoryMeter {
 public:
  static void add(std::int64_t bytes);
  static void remove(std::int64_t bytes);
  static std::int64_t current_bytes();
  static std::int64_t high_water_bytes();
  /// Starts a new high-water at the present level (tests and stages that are measured apart).
  static void reset_high_water();

  /// Large blocks of new memory, touched when they were allocated: bytes and seconds so far.
  static void add_touched(std::int64_t bytes, double seconds);
  static std::int64_t touched_bytes();
  static double touch_seconds();
};

/// Memory the operating system counts as resident: now, and at most so far (Linux VmRSS, VmHWM); 0
/// where unknown.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

/// Memory this process may still use, by the machine's free memory and by the control group's
/// limit.
std::int64_t available_bytes();

/// What this process's own limit (ulimit -v) leaves it; the largest number where there is none.
std::int64_t available_bytes_of_process();

}  // namespace ringweave
