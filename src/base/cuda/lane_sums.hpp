// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Exchange of one value between two lanes of a warp whose numbers differ by `offset`, a power of
/// two: the value a lane gives and the values it holds afterwards. Selects instead of indexing, so
/// that values stay in registers.
class LaneExchange {
 public:
  RINGWEAVE_HOST_DEVICE LaneExchange(int lane, int offset) : upper_((lane & offset) != 0) {}

  /// The i-th value given away when each lane keeps one half of n values, n even.
  RINGWEAVE_HOST_DEVICE double given_of_half(const double* v, int n, int i) const {
    return upper_ ? v[i] : v[i + n / 2];
  }
  RINGWEAVE_HOST_DEVICE double kept_of_half(const double* v, int n, int i) const {
    return upper_ ? v[i + n / 2] : v[i];
  }

  /// Transposes 2 x 2 values: the lower lane gives its second value and the upper lane its first,
  /// and each stores the received value in that place.
  RINGWEAVE_HOST_DEVICE double given_of_two(double first, double second) const {
    return upper_ ? first : second;
  }
  RINGWEAVE_HOST_DEVICE void take(double given, double& first, double& second) const {
    first = upper_ ? given : first;
    second = upper_ ? second : given;
  }

 private:
  bool upper_;
};

/// Computes N sums over the 32 lanes of a warp at once. While N is even, lanes an offset apart
/// share the work: each keeps one half of the values and gives away the other (LaneExchange), so
/// that a sum costs one exchange instead of five. Lane j ends with `left` sums from first_sum(j)
/// on. The order of the additions is fixed.
template <int N>
struct LaneSums {
  static constexpr int levels() {
    int count = 0;
    for (int n = N; n % 2 == 0 && count < 5; n /= 2) ++count;
    return count;
  }
  static constexpr int left = N >> levels();
  /// Number of lanes that end with the same sums.
  static constexpr int copies = warp_lanes >> levels();

  RINGWEAVE_HOST_DEVICE static int first_sum(int lane) { return lane / copies * left; }
};

}  // namespace ringweave::detail::gpu
