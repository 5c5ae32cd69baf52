// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"

namespace ringweave::gpu {

/// Two lanes of a warp that are an offset apart, a power of two, exchange one value each: what a
/// lane gives, and what it has afterwards. By selection, so that values stay in registers.
class LaneExchange {
 public:
  RINGWEAVE_HOST_DEVICE LaneExchange(int lane, int offset) : upper_((lane & offset) != 0) {}

  /// Of n values, n even, each lane keeps a half and gives the other: the i-th of either.
  RINGWEAVE_HOST_DEVICE double given_of_half(const double* v, int n, int i) const {
    return upper_ ? v[i] : v[i + n / 2];
  }
  RINGWEAVE_HOST_DEVICE double kept_of_half(const double* v, int n, int i) const {
    return upper_ ? v[i + n / 2] : v[i];
  }

  /// Of two values the lower lane gives its second and the upper lane its first, and each puts in
  /// that place what it is given: 2 x 2 values are transposed.
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

/// N sums over the 32 lanes of a warp at once. While N is even, lanes that are an offset apart
/// share the work: each keeps one half of the values and gives the other away (LaneExchange), so
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
  /// Lanes that end with the same sums.
  static constexpr int copies = warp_lanes >> levels();

  RINGWEAVE_HOST_DEVICE static int first_sum(int lane) { return lane / copies * left; }
};

}  // namespace ringweave::gpu
