// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/host_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "base/checked_cast.hpp"
#include "base/error.hpp"

namespace ringweave {
namespace {

constexpr std::int64_t cache_line = 64;
constexpr std::int64_t huge_page = std::int64_t{2} << 20;

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
  // Only advice: where the system has no huge pages, nothing changes.
  if (is_large) madvise(memory, to_size(bytes / huge_page * huge_page), MADV_HUGEPAGE);
  return memory;
}

void free_host_memory(void* memory) noexcept { std::free(memory); }

}  // namespace ringweave
