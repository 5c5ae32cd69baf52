// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline base {

/// Copies host memory with all threads.
inline void copy_in_parallel(const void* from, void* to, std::int64_t bytes) {
  // Whole pages per thread, so that no two threads write to one cache line.
  constexpr std::int64_t page = 4096;
  const std::int64_t pages = (bytes + page - 1) / page;
#pragma omp parallel
  {
    const std::int64_t n = omp_get_num_threads();
    const std::int64_t i = omp_get_thread_num();
    const std::int64_t begin = std::min(bytes, pages * i / n * page);
    const std::int64_t end = std::min(bytes, pages * (i + 1) / n * page);
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                to_size(end - begin));
  }
}

}  // namespace ringweave::detail::inline base
