// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"

namespace ringweave::gpu {

/// N sums over the 32 lanes of a warp at once. While N is even, lanes that are an offset apart
/// share the work: each keeps one half of the values and gives the other away, so that a sum costs
/// one exchange instead of five. Lane j ends with `left` sums from first_sum(j) on. The order of
/// the additions is fixed.
template <int N>
struct LaneSums {
  static constexpr int levels() {
    int count = 0;
    for (int n = N; n % 2 == 0 && count < 5; n /= 2) ++count;
    return count;
  }
  static constexpr int left = N >> levels();
  /// Lanes that end with the same sums.
  static constexpr int copies = warp_lanes >> levels();

  RINGWEAVE_HOST_DEVICE static int first_sum(int lane) { return lane / copies * left; }
};

}  // namespace ringweave::gpu
