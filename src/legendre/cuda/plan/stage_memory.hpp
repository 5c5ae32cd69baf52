// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "legendre/cuda/blocks/row_blocks.hpp"

namespace ringweave::gpu {

/// What a stage may hold beside tables of its rings and rows. Whatever it is, results are the same.
struct StageMemory {
  /// What a batch of orders goes through: enough orders to fill any device, and little beside the
  /// modes of a transform that needs more.
  std::int64_t workspace_bytes = std::int64_t{1} << 30;
  /// Coefficients of all rows; where they are more, those of a batch are made when it is swept.
  std::int64_t coefficient_bytes = std::int64_t{1} << 30;
};

/// The same for a stage that works in blocks of rows (RowBlocks), two at a time.
struct BlockMemory {
  StageMemory stage;
  std::int64_t block_bytes;
};

/// Where the stage may take so many bytes of a device: a quarter is left for tables.
inline BlockMemory memory_in_blocks(std::int64_t device_bytes) {
  const StageMemory usual;
  return {{std::min(usual.workspace_bytes, device_bytes / 4),
           std::min(usual.coefficient_bytes, device_bytes / 4)},
          std::min(RowBlocks::usual_bytes, device_bytes / 8)};
}

}  // namespace ringweave::gpu
