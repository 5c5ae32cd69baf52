// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/counted_allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> count{0};

}  // namespace

std::int64_t ringweave::detail::test::n_allocations() { return count; }

// The other forms call these, but for those of aligned memory.
void* operator new(std::size_t size) {
  ++count;
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
