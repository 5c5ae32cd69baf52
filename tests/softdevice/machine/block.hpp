// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "softdevice/machine/counts.hpp"
#include "softdevice/machine/program.hpp"
#include "softdevice/machine/warp.hpp"
#include "softdevice/memory/global_memory.hpp"

namespace softdevice {

/// Errors that end a launch and stay with the device.
enum class Failure { none, illegal_address, misaligned_address, deadlock, endless };

/// Shared memory of a block.
class SharedMemory {
 public:
  explicit SharedMemory(std::int64_t bytes);
  void begin();

  /// The same as those of OrderedMemory.
  const char* place(std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment) const {
    if (address + bytes > bytes_.size()) return "outside";
    return address % alignment == 0 ? "" : "not aligned";
  }
  const char* read(const Actor& actor, std::uint64_t address, std::uint64_t bytes,
                   bool& is_defined) {
    const char* problem = "";
    for (std::uint64_t at = address; at < address + bytes; at += cell_bytes) {
      Cell& cell = cells_[at / cell_bytes];
      if (cell.is_awaited) problem = "read before its cp.async was waited for";
      if (cell.defined == 0) is_defined = false;
      if (cell.has_writer && !cell.writer.is_before(actor)) problem = "read and written, a race";
      cell.read_by(actor);
    }
    return problem;
  }
  const char* write(const Actor& actor, std::uint64_t address, std::uint64_t bytes,
                    bool is_defined) {
    const char* problem = "";
    for (std::uint64_t at = address; at < address + bytes; at += cell_bytes) {
      Cell& cell = cells_[at / cell_bytes];
      if (cell.is_awaited) problem = "written before its cp.async was waited for";
      cell.defined = is_defined ? 15 : 0;
      if (cell.written_by(actor)) problem = "written, a race";
    }
    return problem;
  }
  /// Notes that a copy by cp.async will write there, and that its thread has waited for it.
  const char* await(const Actor& actor, std::uint64_t address, std::uint64_t bytes);
  void arrive(const Actor& actor, std::uint64_t address, std::uint64_t bytes, bool is_defined);
  std::byte* bytes_at(std::uint64_t address) { return bytes_.data() + address; }

 private:
  std::vector<std::byte> bytes_;
  std::vector<Cell> cells_;
};

/// A kernel with its parameters and its place in a stream.
struct Launch {
  const Program* program;
  std::vector<std::byte> parameters;
  std::uint32_t n_blocks;
  int n_threads;
};

/// Runs the blocks of a launch, one after the other.
class Block {
 public:
  Block(const Launch& launch, const Operation& operation, Moment moment, LaunchCounts& counts);

  void run(std::uint32_t index);
  Failure failure() const { return failure_; }
  bool has_failed() const { return failure_ != Failure::none; }
  /// Notes which instructions lanes took, a byte for each.
  void note_instructions(std::vector<std::uint8_t>& taken) { taken_ = &taken; }
  /// Ends the launch, as endless, after so many instructions more.
  void allow(std::uint64_t instructions) { allowed_ = instructions; }

  // For the handlers of instructions:
  SharedMemory& shared() { return shared_; }
  OrderedMemory& global() { return global_; }
  const std::vector<std::byte>& parameters() const { return launch_.parameters; }
  Actor actor(const Warp& warp, int lane) const {
    return {operation_->id, index_, epoch_, warp.epoch(),
            static_cast<std::uint16_t>(warp.thread(lane))};
  }
  void fail(Failure failure) { failure_ = failure; }
  LaunchCounts& counts() { return counts_; }
  void step(std::uint32_t instruction) {
    if (--allowed_ == 0) fail(Failure::endless);
    if (taken_ != nullptr) (*taken_)[instruction] = 1;
  }
  /// A random number for schedules; null where lanes stay together.
  std::mt19937_64* random() { return random_.get(); }
  /// Tells of a finding, or of an error that ends the launch.
  void tell(const std::string& kind, int thread, std::uint32_t line) const;
  void report(const std::string& error, int thread, std::uint32_t line) const;

 private:
  std::string place(int thread, std::uint32_t line) const;

  const Launch& launch_;
  const Operation* operation_;
  OrderedMemory global_;
  SharedMemory shared_;
  std::vector<std::unique_ptr<Warp>> warps_;
  LaunchCounts& counts_;
  std::unique_ptr<std::mt19937_64> random_;
  std::uint32_t index_ = 0;
  std::uint32_t epoch_ = 0;
  Failure failure_ = Failure::none;
  std::uint64_t allowed_ = ~std::uint64_t{0};
  std::vector<std::uint8_t>* taken_ = nullptr;
};

/// Runs all blocks. Returns how it ended.
/// taken  noted where it is not empty
Failure run_launch(const Launch& launch, const Operation& operation, Moment moment,
                   LaunchCounts& counts, std::vector<std::uint8_t>& taken);

}  // namespace softdevice
