// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "softdevice/memory/operation.hpp"
#include "softdevice/memory/shadow.hpp"

namespace softdevice {

struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  int device = 0;
  bool is_live = true;
  std::map<std::uint32_t, Moment> last_use{};  ///< of every stream
};

/// Memory of all devices. Its addresses are not those of the host (but with SOFTDEVICE_MPI=1), are
/// never used twice, and lie apart from one another. New memory has no values and is full of NaN.
class GlobalMemory {
 public:
  static GlobalMemory& get();

  /// Returns 0 where the device has not enough.
  std::uint64_t allocate(std::uint64_t bytes, int device);
  void free(std::uint64_t address);
  std::int64_t free_bytes(int device) const;

  /// Returns the allocation around an address, or null.
  Allocation* find(std::uint64_t address);
  bool is_address(std::uint64_t address) const { return address - device_begin_ < span; }

  /// All allocations, those that were freed too, by where they begin.
  const std::map<std::uint64_t, Allocation>& allocations() const { return allocations_; }

  /// The bytes behind an address.
  std::byte* bytes_at(std::uint64_t address) const {
    return host_begin_ + (address - device_begin_);
  }
  Cell& cell_at(std::uint64_t address) const {
    return cells_[(address - device_begin_) / cell_bytes];
  }

  static constexpr std::uint64_t span = std::uint64_t{1} << 38;

 private:
  GlobalMemory();

  std::uint64_t device_begin_ = 0;
  std::byte* host_begin_ = nullptr;
  Cell* cells_ = nullptr;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Allocation> allocations_;
  std::vector<std::int64_t> used_;
};

/// An operation's accesses to global memory. Each returns the problem that it found, "" for none.
class OrderedMemory {
 public:
  OrderedMemory(const Operation& operation, Moment moment);

  /// Returns what is wrong with an access of so many bytes, a power of two: bounds, alignment.
  const char* place(std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment);

  /// Notes that a thread reads or writes bytes that place() found right, at most four of a cell.
  /// is_defined: whether they have values; whether what is written has.
  const char* read(const Actor& actor, std::uint64_t address, std::uint64_t bytes,
                   bool& is_defined) {
    const char* problem = "";
    if (!has_shadow_) return problem;
    for (const std::uint64_t end = address + bytes; address < end;) {
      const std::uint64_t here = std::min(end - address, cell_bytes - address % cell_bytes);
      Cell& cell = memory_.cell_at(address);
      const std::uint8_t mask = mask_of(address, here);
      if ((cell.defined & mask) != mask && is_new(address, here)) is_defined = false;
      const bool is_written_here = cell.has_writer && cell.writer.operation == actor.operation;
      if (cell.has_writer && !is_written_here && cell.writer.operation != known_before_ &&
          !is_after(cell.writer.operation))
        problem = "read, unordered with a write before";
      if (cell.has_reader && cell.reader.operation != actor.operation) begin_reading(cell);
      if (is_written_here && !cell.writer.is_before(actor)) problem = "read and written, a race";
      cell.read_by(actor);
      address += here;
    }
    return problem;
  }
  const char* write(const Actor& actor, std::uint64_t address, std::uint64_t bytes,
                    bool is_defined) {
    const char* problem = "";
    if (!has_shadow_) return problem;
    for (const std::uint64_t end = address + bytes; address < end;) {
      const std::uint64_t here = std::min(end - address, cell_bytes - address % cell_bytes);
      Cell& cell = memory_.cell_at(address);
      const std::uint8_t mask = mask_of(address, here);
      cell.defined =
          static_cast<std::uint8_t>((is_defined ? cell.defined | mask : cell.defined & ~mask) & 15);
      if ((cell.has_writer && cell.writer.operation != actor.operation) ||
          (cell.has_reader && cell.reader.operation != actor.operation)) {
        const char* found = begin_writing(cell);
        if (*found != 0) problem = found;
      }
      if (cell.written_by(actor)) problem = "written, a race";
      address += here;
    }
    return problem;
  }

  /// The same for a copy or an FFT, for any number of bytes.
  const char* read_range(std::uint64_t address, std::uint64_t bytes, bool& is_defined);
  const char* write_range(std::uint64_t address, std::uint64_t bytes);
  /// Copies values and which of them are defined.
  const char* copy_range(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);

  /// Returns whether all of these bytes are of one allocation.
  bool has_bytes(std::uint64_t address, std::uint64_t bytes) {
    return *place(address, bytes, 1) == 0;
  }
  std::byte* bytes_at(std::uint64_t address) const { return memory_.bytes_at(address); }

 private:
  /// The bytes of a cell from address on, as bits.
  static std::uint8_t mask_of(std::uint64_t address, std::uint64_t bytes) {
    return static_cast<std::uint8_t>(((1U << bytes) - 1U) << (address % cell_bytes));
  }
  bool is_new(std::uint64_t address, std::uint64_t bytes) const;
  bool is_after(std::uint32_t operation);
  bool is_after_all_readers(const Cell& cell);
  void begin_reading(Cell& cell);
  const char* begin_writing(Cell& cell);

  GlobalMemory& memory_;
  const Operation* operation_;
  Moment moment_;
  bool has_shadow_;  ///< not where only some of the blocks run (SOFTDEVICE_SAMPLE)
  const Allocation* last_ = nullptr;
  std::uint32_t known_before_ = 0;  ///< an operation that is_after() found to be before this one
};

}  // namespace softdevice
