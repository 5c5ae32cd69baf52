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
void free_host_memory(void* memory) noexcept;

}  // namespace ringweave
