// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Writes zeros to parts of an array that are `stride` values apart.
struct ClearValues {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each part
  std::int64_t stride;
  double* values;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) { values[row * stride + k] = 0; });
  }
};

}  // namespace ringweave::detail::gpu
