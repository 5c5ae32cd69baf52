// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Uninitialised memory aligned to 64 bytes. Large blocks are aligned to huge pages and the system
/// is asked to use them: ring modes lie a page and more apart, and with small pages every one of
/// them costs a table walk. The threads touch them at once: what the system takes to hand over
/// pages (MemoryMeter::touch_seconds) is then no part of whatever writes to them first. Error
/// ResourceError with the size when the system refuses.
void* allocate_host_memory(std::int64_t bytes);
/// `bytes` as they were asked for.
void free_host_memory(void* memory, std::int64_t bytes) noexcept;

/// While one of these lives, large blocks that are freed are kept for the next ones of their size
/// or somewhat less: the system takes as long for a gigabyte of new pages as a transform that
/// writes it. Blocks in use and kept together are never more than were in use at once before, so
/// that a plan of memory holds. Its end gives back what is kept. Any thread may allocate and free
/// meanwhile.
class HostMemoryPool {
 public:
  HostMemoryPool();
  ~HostMemoryPool();
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;
};

/// Bytes that are kept, and are free memory to this process.
std::int64_t kept_host_bytes();

}  // namespace ringweave
