// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "legendre/cuda/blocks/row_blocks.hpp"

namespace ringweave::gpu {

/// Memory limits of a stage, tables of its rings and rows excluded. Results do not depend on them.
struct StageMemory {
  /// Limit for the workspace of a batch of orders: enough orders to fill any device, and small
  /// compared with the modes of a transform that needs more.
  std::int64_t workspace_bytes = std::int64_t{1} << 30;
  /// Limit for keeping the coefficients of all rows; if they need more, those of each batch are
  /// computed before its sweep.
  std::int64_t coefficient_bytes = std::int64_t{1} << 30;
};

/// Memory limits of a stage that works on blocks of rows (RowBlocks), two at a time.
struct BlockMemory {
  StageMemory stage;
  std::int64_t block_bytes;
};

/// Divides `device_bytes` for a stage in blocks; a quarter is left for tables.
inline BlockMemory memory_in_blocks(std::int64_t device_bytes) {
  const StageMemory usual;
  return {{std::min(usual.workspace_bytes, device_bytes / 4),
           std::min(usual.coefficient_bytes, device_bytes / 4)},
          std::min(RowBlocks::usual_bytes, device_bytes / 8)};
}

}  // namespace ringweave::gpu
