// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace ringweave::detail::gpu {

/// Two doubles moved in one 16-byte access.
struct alignas(16) Double2 {
  double x;
  double y;
};

/// T[N] with the signed N of all counts.
template <class T, int N>
using Array = T[static_cast<std::size_t>(N)];

inline constexpr int warp_lanes = 32;
inline constexpr int block_warps = 4;
inline constexpr int block_threads = block_warps * warp_lanes;

/// Shared memory of launches whose threads share nothing.
struct NoShared {};

}  // namespace ringweave::detail::gpu
