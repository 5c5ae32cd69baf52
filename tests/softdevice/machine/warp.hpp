// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "softdevice/machine/program.hpp"
#include "softdevice/memory/shadow.hpp"

namespace softdevice {

class Block;

/// A copy by cp.async on its way: 16 bytes or fewer.
struct AsyncCopy {
  std::uint64_t to = 0;  ///< in shared memory
  std::array<std::byte, 16> bytes{};
  std::uint32_t size = 0;
  bool is_defined = true;
};

/// Copies of one thread: groups that it committed, and those since.
struct AsyncCopies {
  std::deque<std::vector<AsyncCopy>> committed;
  std::vector<AsyncCopy> open;
};

/// A warp whose lanes have program counters of their own. Lanes at one place go on together.
class Warp {
 public:
  Warp(Block& block, const Program& program, int first_thread);

  /// Begins the program again for the threads that exist.
  void begin(std::uint32_t block_index, std::uint32_t n_blocks, int n_threads);
  /// Runs until every lane waits for the block or has ended; with random schedules also less.
  void run();
  bool has_ended() const { return running_ == 0; }
  /// Returns whether all lanes that have not ended wait for the block.
  bool waits() const { return running_ == at_barrier_; }
  /// The instruction that a lane waits at; waits(), and lanes have not ended.
  std::uint32_t barrier() const {
    return pc_[static_cast<std::size_t>(std::countr_zero(at_barrier_))];
  }
  /// Goes on behind the barrier; tells of lanes that wait at another one.
  void leave_barrier(std::uint32_t barrier);

  // For the handlers of instructions:
  Row& row(std::uint32_t index) { return rows_[index]; }
  Lanes& undefined(std::uint32_t index) { return undefined_[index]; }
  Lanes& predicate(std::uint32_t index) { return predicates_[index]; }
  Lanes& undefined_predicate(std::uint32_t index) { return undefined_predicates_[index]; }
  AsyncCopies& copies(int lane) { return copies_[static_cast<std::size_t>(lane)]; }
  Block& block() { return block_; }
  int thread(int lane) const { return first_thread_ + lane; }
  std::uint16_t epoch() const { return epoch_; }
  void begin_epoch() { ++epoch_; }
  void tell(const std::string& kind, int lane) const;

 private:
  Lanes choose();
  void run_group(Lanes lanes);
  Lanes guarded(const Instruction& in, Lanes lanes);
  Lanes members(const Instruction& in, Lanes lanes) const;
  Lanes gather(const Instruction& in, std::uint32_t pc, Lanes lanes);
  void set_pc(Lanes lanes, std::uint32_t pc);

  Block& block_;
  const Program& program_;
  int first_thread_;
  std::vector<Row> rows_;
  std::vector<Lanes> undefined_;
  std::vector<Lanes> predicates_;
  std::vector<Lanes> undefined_predicates_;
  std::array<std::uint32_t, n_lanes> pc_{};
  std::array<AsyncCopies, n_lanes> copies_{};
  Lanes running_ = 0;
  Lanes at_barrier_ = 0;
  Lanes at_collective_ = 0;  ///< wait for other lanes
  std::uint16_t epoch_ = 0;
  const Instruction* current_ = nullptr;
};

}  // namespace softdevice
