// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "distribute/exchange/mode_rounding.hpp"

namespace ringweave::detail::gpu {

/// Enough blocks to keep the memory of any device busy.
inline constexpr std::int64_t most_rounding_blocks = 1024;

/// Converts contiguous numbers to or through single precision; `from` and `to` may be the same.
/// Block b keeps the largest magnitude it has seen in largest[b], over all launches in order.
template <class From, class To>
struct RoundModes {
  static constexpr int least_blocks = 4;
  struct Shared {
    Array<double, block_threads> largest;
  };

  const From* from;
  To* to;
  std::int64_t n;
  std::int64_t n_blocks;
  double* largest;

  static RoundModes of(const From* from, To* to, std::int64_t n, double* largest) {
    const std::int64_t wanted = (n + block_threads - 1) / block_threads;
    return {from, to, n, std::min(wanted, most_rounding_blocks), largest};
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    block.each([&](int thread) {
      double own = 0;
      for (std::int64_t i = block.index() * block_threads + thread; i < n;
           i += n_blocks * block_threads) {
        const From value = from[i];
        own = larger_magnitude(own, static_cast<double>(value));
        to[i] = through_single<To>(value);
      }
      shared.largest[thread] = own;
    });
    block.sync();
    block.each([&](int thread) {
      if (thread != 0) return;
      double all = largest[block.index()];
      for (int i = 0; i < block_threads; ++i) all = larger_magnitude(all, shared.largest[i]);
      largest[block.index()] = all;
    });
  }
};

}  // namespace ringweave::detail::gpu
