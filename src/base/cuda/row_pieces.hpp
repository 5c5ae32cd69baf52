// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Distributes the values of rows over blocks: a block processes a part of one row.
struct RowPieces {
  static constexpr int values_per_thread = 4;
  static constexpr std::int64_t values = std::int64_t{values_per_thread} * block_threads;
  std::int64_t n_rows;
  std::int64_t row_length;

  RINGWEAVE_HOST_DEVICE std::int64_t pieces_per_row() const {
    return (row_length + values - 1) / values;
  }
  std::int64_t n_blocks() const { return n_rows * pieces_per_row(); }

  /// Calls work(row, k) for the values of a block.
  template <class Block, class Work>
  RINGWEAVE_LAUNCH void each(const Block& block, const Work& work) const {
    const Quotient at = divide(block.index(), pieces_per_row());
    const std::int64_t first = at.rest * values;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < values_per_thread; ++i) {
        const std::int64_t k = first + i * block_threads + thread;
        if (k < row_length) work(at.whole, k);
      }
    });
  }
};

}  // namespace ringweave::detail::gpu
