// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/host_memory.hpp"

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "base/memory_meter.hpp"

namespace ringweave {
namespace {

constexpr std::int64_t cache_line = 64;
constexpr std::int64_t huge_page = std::int64_t{2} << 20;

/// Writes to every page, in even shares.
void touch(void* memory, std::int64_t bytes) {
  constexpr std::int64_t page = 4096;
  const auto start = std::chrono::steady_clock::now();
  auto* const first = static_cast<volatile std::byte*>(memory);
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < bytes; at += page) first[at] = std::byte{0};
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  MemoryMeter::add_touched(bytes, elapsed.count());
}

}  // namespace

void* allocate_host_memory(std::int64_t bytes) {
  const bool is_large = bytes >= 4 * huge_page;
  const std::int64_t alignment = is_large ? huge_page : cache_line;
  const std::int64_t padded = (bytes + cache_line - 1) / cache_line * cache_line;
  // aligned_alloc wants a multiple of the alignment; posix_memalign does not.
  void* memory = nullptr;
  if (posix_memalign(&memory, to_size(alignment), to_size(padded)) != 0) {
    throw ResourceError("out of memory: cannot allocate " + std::to_string(bytes) + " bytes");
  }
  if (is_large) {
    // Only advice: where the system has no huge pages, nothing changes.
    madvise(memory, to_size(bytes / huge_page * huge_page), MADV_HUGEPAGE);
    touch(memory, bytes);
  }
  return memory;
}

void free_host_memory(void* memory) noexcept { std::free(memory); }

}  // namespace ringweave
