// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Allocates uninitialised memory aligned to 64 bytes. Large blocks are aligned to huge pages, and
/// the system is asked to use them: ring modes are a page or more apart, so with small pages each
/// of them costs a page table walk. Pages are faulted in by all threads at allocation
/// (MemoryMeter::touch_seconds), so the cost is not charged to the first stage that writes. Error
/// ResourceError with the size when the system refuses.
void* allocate_host_memory(std::int64_t bytes);
/// Frees memory; `bytes` as given at allocation.
void free_host_memory(void* memory, std::int64_t bytes) noexcept;

/// Keeps freed large blocks for reuse while an object of this class lives. A kept block serves
/// allocations of its size or somewhat less: faulting in a gigabyte of new pages takes as long as a
/// transform that writes it. The blocks in use and kept never exceed the earlier high-water mark of
/// the blocks in use, so memory plans remain valid. The destructor frees the kept blocks. Any
/// thread may allocate and free meanwhile.
class HostMemoryPool {
 public:
  HostMemoryPool();
  ~HostMemoryPool();
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;
};

/// Returns the bytes of the kept blocks, which this process can reuse.
std::int64_t kept_host_bytes();

}  // namespace ringweave
