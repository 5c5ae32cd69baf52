// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline base {
namespace {

constexpr std::int64_t cache_line = 64;
constexpr std::int64_t huge_page = std::int64_t{2} << 20;

bool is_large(std::int64_t bytes) { return bytes >= 4 * huge_page; }

/// Writes to every page, in equal shares per thread.
void touch(void* memory, std::int64_t bytes) {
  constexpr std::int64_t page = 4096;
  const auto start = std::chrono::steady_clock::now();
  auto* const first = static_cast<volatile std::byte*>(memory);
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < bytes; at += page) first[at] = std::byte{0};
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  MemoryMeter::add_touched(bytes, elapsed.count());
}

/// Allocates from the system; null when it refuses.
void* from_system(std::int64_t bytes, std::int64_t alignment) {
  const std::int64_t padded = (bytes + cache_line - 1) / cache_line * cache_line;
  // posix_memalign, unlike aligned_alloc, does not need a size that is a multiple of the alignment.
  void* memory = nullptr;
  return posix_memalign(&memory, to_size(alignment), to_size(padded)) == 0 ? memory : nullptr;
}

/// Tracks the large blocks of this process.
class LargeBlocks {
 public:
  struct Acquired {
    void* memory;  ///< null when the system refuses
    bool is_new;
  };

  Acquired acquire(std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (Block* const block = best_kept(bytes)) {
      block->in_use = true;
      return {block->memory, false};
    }
    while (sum(InUse::no) > 0 && sum(InUse::yes) + sum(InUse::no) + bytes > most_bytes_)
      give_back_largest();
    blocks_.reserve(blocks_.size() + 1);
    void* memory = from_system(bytes, huge_page);
    if (memory == nullptr) {
      give_back_all();
      memory = from_system(bytes, huge_page);
    }
    if (memory == nullptr) return {nullptr, true};
    blocks_.push_back({memory, bytes, true});
    most_bytes_ = std::max(most_bytes_, sum(InUse::yes));
    return {memory, true};
  }

  void end_use(void* memory) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                    [&](const Block& b) { return b.memory == memory; });
    block->in_use = false;
    if (n_reusing_ == 0) give_back(block);
  }

  void begin_reuse() {
    const std::scoped_lock lock(mutex_);
    ++n_reusing_;
  }

  void end_reuse() {
    const std::scoped_lock lock(mutex_);
    if (--n_reusing_ == 0) give_back_all();
  }

  std::int64_t kept_bytes() {
    const std::scoped_lock lock(mutex_);
    return sum(InUse::no);
  }

 private:
  struct Block {
    void* memory;
    std::int64_t bytes;
    bool in_use;
  };
  enum class InUse { no, yes };
  using Position = std::vector<Block>::iterator;

  std::int64_t sum(InUse which) const {
    std::int64_t bytes = 0;
    for (const Block& block : blocks_)
      bytes += block.in_use == (which == InUse::yes) ? block.bytes : 0;
    return bytes;
  }

  /// Returns the smallest kept block that is large enough and at most a third too large; null if
  /// none.
  Block* best_kept(std::int64_t bytes) {
    Block* best = nullptr;
    for (Block& block : blocks_) {
      if (block.in_use || block.bytes < bytes || block.bytes > bytes + bytes / 3) continue;
      if (best == nullptr || block.bytes < best->bytes) best = &block;
    }
    return best;
  }

  void give_back(Position block) {
    std::free(block->memory);
    blocks_.erase(block);
  }

  void give_back_largest() {
    give_back(std::max_element(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) {
      return (a.in_use ? 0 : a.bytes) < (b.in_use ? 0 : b.bytes);
    }));
  }

  void give_back_all() {
    while (sum(InUse::no) > 0) give_back_largest();
  }

  std::mutex mutex_;
  int n_reusing_ = 0;
  std::vector<Block> blocks_;    ///< a few dozen at most
  std::int64_t most_bytes_ = 0;  ///< high-water mark of bytes in use
};

/// Never destroyed, so that buffers of static duration may be freed in any order.
LargeBlocks& large_blocks() {
  static auto* const blocks = new LargeBlocks;
  return *blocks;
}

void* allocate_large(std::int64_t bytes) {
  const auto [memory, is_new] = large_blocks().acquire(bytes);
  if (memory == nullptr || !is_new) return memory;
  // Only a hint: nothing changes on a system without huge pages.
  madvise(memory, to_size(bytes / huge_page * huge_page), MADV_HUGEPAGE);
  touch(memory, bytes);
  return memory;
}

}  // namespace

std::int64_t element_count(std::int64_t n_components, std::int64_t size) {
  return checked_product(n_components, size, "elements of a buffer");
}

// Large blocks are aligned to huge pages and the system is asked to use them: ring modes lie a page
// and more apart, and with small pages every one of them costs a table walk. All threads fault the
// pages in at allocation, so the cost (MemoryMeter::touch_seconds) is not charged to the first
// stage that writes.
void* allocate_elements(std::int64_t count, std::int64_t bytes_each) {
  const std::int64_t bytes = checked_product(count, bytes_each, "buffer size in bytes");
  void* const memory = is_large(bytes) ? allocate_large(bytes) : from_system(bytes, cache_line);
  if (memory == nullptr)
    throw ResourceError("out of memory: cannot allocate " + std::to_string(bytes) + " bytes");
  MemoryMeter::add(bytes);
  return memory;
}

void free_elements(void* memory, std::int64_t count, std::int64_t bytes_each) noexcept {
  const std::int64_t bytes = count * bytes_each;
  if (is_large(bytes)) {
    large_blocks().end_use(memory);
  } else {
    std::free(memory);
  }
  MemoryMeter::remove(bytes);
}

HostMemoryPool::HostMemoryPool() { large_blocks().begin_reuse(); }
HostMemoryPool::~HostMemoryPool() { large_blocks().end_reuse(); }

std::int64_t kept_host_bytes() { return large_blocks().kept_bytes(); }

}  // namespace ringweave::detail::inline base
