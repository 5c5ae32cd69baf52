// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace softdevice {

/// A thread of a launch at a moment. Barriers of its block and of its warp begin new epochs.
struct Actor {
  std::uint32_t operation = 0;
  std::uint32_t block = 0;
  std::uint32_t block_epoch = 0;
  std::uint16_t warp_epoch = 0;
  std::uint16_t thread = 0;  ///< in the block

  /// Returns whether what this thread does comes before what another of the same launch does: by
  /// the order of a thread, or by a barrier.
  bool is_before(const Actor& later) const {
    if (block != later.block) return false;
    if (thread == later.thread || block_epoch < later.block_epoch) return true;
    return thread / 32 == later.thread / 32 && warp_epoch < later.warp_epoch;
  }
};

/// The last accesses to four bytes, and which of them have values. Of several readers that nothing
/// orders the last is known, and that there were others.
struct Cell {
  Actor writer{};
  Actor reader{};
  std::uint8_t defined : 4 = 0;  ///< a bit for each byte
  bool has_writer : 1 = false;
  bool has_reader : 1 = false;
  bool has_near_readers : 1 = false;  ///< others of the last reader's block, since its barrier
  bool has_far_readers : 1 = false;   ///< others of other blocks
  bool is_awaited : 1 = false;        ///< its writer has not waited for a cp.async

  /// Notes an access of the launch that accessed the cell before.
  void read_by(const Actor& actor) {
    if (has_reader && reader.block != actor.block) {
      has_far_readers = true;
      has_near_readers = false;
    } else if (has_reader && reader.thread != actor.thread) {
      has_near_readers = !reader.is_before(actor);
    }
    reader = actor;
    has_reader = true;
  }
  /// The same; returns whether it races with one before.
  bool written_by(const Actor& actor) {
    const bool near_readers_are_before =
        !has_near_readers || (reader.block_epoch < actor.block_epoch);
    const bool races = (has_writer && !writer.is_before(actor)) ||
                       (has_reader && !reader.is_before(actor)) || !near_readers_are_before ||
                       has_far_readers;
    writer = actor;
    has_writer = true;
    has_reader = has_near_readers = has_far_readers = false;
    return races;
  }
};
inline constexpr std::uint64_t cell_bytes = 4;

}  // namespace softdevice
