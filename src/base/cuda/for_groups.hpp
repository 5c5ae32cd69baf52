// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <type_traits>

namespace ringweave::detail::gpu {

/// Calls work(size of a group, as a type; its first item) for all items: groups of the first size
/// while they fit, then of the next. The last size must be 1.
template <int... sizes, class Work>
void for_groups(std::int64_t begin, std::int64_t end, const Work& work) {
  const auto groups = [&](auto size) {
    for (; begin + size <= end; begin += size) work(size, begin);
  };
  (groups(std::integral_constant<int, sizes>()), ...);
}

}  // namespace ringweave::detail::gpu
