// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline base {

/// While one of these lives, large blocks that are freed are kept for the next ones of their size
/// or somewhat less: the system takes as long for a gigabyte of new pages as a transform that
/// writes it. Blocks in use and kept together are never more than were in use at once before, so
/// that a plan of memory holds. Its end gives back the kept blocks. Any thread may allocate and
/// free during its life.
class HostMemoryPool {
 public:
  HostMemoryPool();
  ~HostMemoryPool();
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;
};

/// Returns the bytes of the kept blocks, which this process can reuse.
std::int64_t kept_host_bytes();

}  // namespace ringweave::detail::inline base
