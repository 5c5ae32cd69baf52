// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/memory/global_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <unordered_map>

#include "softdevice/memory/waits.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t red_zone = 4096;
constexpr int fill = 0xff;

std::byte* reserve(std::uint64_t bytes, int protection) {
  void* memory =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("softdevice: no addresses for its memory");
  return static_cast<std::byte*>(memory);
}

/// Readers of cells that nothing orders among each other, by their cells: all but the last.
std::unordered_map<const Cell*, std::vector<std::uint32_t>>& other_readers() {
  static std::unordered_map<const Cell*, std::vector<std::uint32_t>> all;
  return all;
}

}  // namespace

OperationLog& OperationLog::get() {
  static auto* log = new OperationLog;
  return *log;
}

void OperationLog::enter(Operation& operation, Moment moment) {
  operation.id = static_cast<std::uint32_t>(moments_.size());
  moments_.push_back(moment);
  names_.push_back(operation.name);
}

GlobalMemory& GlobalMemory::get() {
  static auto* memory = new GlobalMemory;
  return *memory;
}

GlobalMemory::GlobalMemory() : used_(static_cast<std::size_t>(settings().devices)) {
  host_begin_ = reserve(span, PROT_READ | PROT_WRITE);
  device_begin_ = reinterpret_cast<std::uint64_t>(
      settings().host_may_touch ? host_begin_ : reserve(span, PROT_NONE));
  const std::uint64_t cells = span / cell_bytes * sizeof(Cell);
  cells_ = reinterpret_cast<Cell*>(reserve(cells, PROT_READ | PROT_WRITE));
  next_ = device_begin_ + red_zone;
}

std::uint64_t GlobalMemory::allocate(std::uint64_t bytes, int device) {
  std::int64_t& used = used_[static_cast<std::size_t>(device)];
  if (static_cast<std::int64_t>(bytes) > settings().memory - used) return 0;
  const std::uint64_t begin = next_;
  const std::uint64_t end = begin + bytes;
  next_ = (end + red_zone + alignment - 1) / alignment * alignment;
  if (next_ - device_begin_ > span)
    throw std::runtime_error("softdevice: all addresses of devices have been used");
  used += static_cast<std::int64_t>(bytes);
  std::memset(bytes_at(begin), fill, bytes);
  allocations_[begin] = {begin, end, device};
  return begin;
}

void GlobalMemory::free(std::uint64_t address) {
  Allocation& allocation = allocations_.at(address);
  allocation.is_live = false;
  const std::uint64_t bytes = allocation.end - allocation.begin;
  used_[static_cast<std::size_t>(allocation.device)] -= static_cast<std::int64_t>(bytes);
  const auto give_back = [](void* begin, std::uint64_t size) {
    constexpr std::uint64_t page = 4096;
    const auto first = (reinterpret_cast<std::uint64_t>(begin) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uint64_t>(begin) + size) / page * page;
    if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  };
  give_back(bytes_at(allocation.begin), bytes);
  give_back(&cell_at(allocation.begin), bytes / cell_bytes * sizeof(Cell));
}

std::int64_t GlobalMemory::free_bytes(int device) const {
  return settings().memory - used_[static_cast<std::size_t>(device)];
}

Allocation* GlobalMemory::find(std::uint64_t address) {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  Allocation& found = std::prev(next)->second;
  return address < found.end ? &found : nullptr;
}

OrderedMemory::OrderedMemory(const Operation& operation, Moment moment)
    : memory_(GlobalMemory::get()),
      operation_(&operation),
      moment_(moment),
      has_shadow_(settings().sample == 1) {}

const char* OrderedMemory::place(std::uint64_t address, std::uint64_t bytes,
                                 std::uint64_t wanted_alignment) {
  if (last_ == nullptr || address < last_->begin || address + bytes > last_->end) {
    Allocation* found = memory_.find(address);
    if (found == nullptr || address + bytes > found->end) return "outside of all allocations";
    if (!found->is_live) return "in memory that was freed";
    found->last_use[moment_.stream] = moment_;
    last_ = found;
  }
  return address % wanted_alignment == 0 ? "" : "not aligned";
}

bool OrderedMemory::is_after(std::uint32_t operation) {
  if (operation == known_before_) return true;
  const OperationLog& log = OperationLog::get();
  if (!log.is_before(operation, operation_->clock)) return false;
  Waits::get().note_conflict(log.moment(operation), operation_->clock);
  known_before_ = operation;
  return true;
}

bool OrderedMemory::is_after_all_readers(const Cell& cell) {
  const auto others = other_readers().find(&cell);
  if (others == other_readers().end()) return true;
  const bool ordered = std::all_of(others->second.begin(), others->second.end(),
                                   [&](std::uint32_t reader) { return is_after(reader); });
  other_readers().erase(others);
  return ordered;
}

/// Returns whether bytes without values are as in new memory. Those that MPI wrote are not.
bool OrderedMemory::is_new(std::uint64_t address, std::uint64_t bytes) const {
  if (!settings().host_may_touch) return true;
  const auto* values = reinterpret_cast<const unsigned char*>(bytes_at(address));
  return std::all_of(values, values + bytes, [](int value) { return value == fill; });
}

/// Forgets readers of another operation; keeps in mind one that nothing orders before this one.
void OrderedMemory::begin_reading(Cell& cell) {
  if (!OperationLog::get().is_before(cell.reader.operation, operation_->clock))
    other_readers()[&cell].push_back(cell.reader.operation);
  cell.has_reader = cell.has_near_readers = cell.has_far_readers = false;
}

const char* OrderedMemory::begin_writing(Cell& cell) {
  const char* problem = "";
  if (cell.has_writer && cell.writer.operation != operation_->id) {
    if (!is_after(cell.writer.operation)) problem = "written, unordered with a write before";
    cell.has_writer = false;
  }
  if (cell.has_reader && cell.reader.operation != operation_->id) {
    if (!is_after(cell.reader.operation) || !is_after_all_readers(cell))
      problem = "written, unordered with a read before";
    cell.has_reader = cell.has_near_readers = cell.has_far_readers = false;
  }
  return problem;
}

const char* OrderedMemory::read_range(std::uint64_t address, std::uint64_t bytes,
                                      bool& is_defined) {
  const char* problem = place(address, bytes, 1);
  return *problem != 0 ? problem : read({.operation = operation_->id}, address, bytes, is_defined);
}

const char* OrderedMemory::write_range(std::uint64_t address, std::uint64_t bytes) {
  const char* problem = place(address, bytes, 1);
  return *problem != 0 ? problem : write({.operation = operation_->id}, address, bytes, true);
}

const char* OrderedMemory::copy_range(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
  bool is_defined = true;
  const char* read_problem = read_range(from, bytes, is_defined);
  const char* write_problem = write_range(to, bytes);
  if (*read_problem == 0 && *write_problem == 0) {
    std::memcpy(bytes_at(to), bytes_at(from), bytes);
    for (std::uint64_t i = 0; !is_defined && i < bytes; i += cell_bytes)
      memory_.cell_at(to + i).defined = memory_.cell_at(from + i).defined;
  }
  return *read_problem != 0 ? read_problem : write_problem;
}

}  // namespace softdevice
