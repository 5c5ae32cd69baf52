// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::detail::gpu {

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
          std::min(usual_block_bytes, device_bytes / 8)};
}

/// A stage whose a_lm and modes are those of one block at a time: a call is for rows of one block,
/// with the places RowBlocks gives them. Error  as make_device_legendre_stage.
std::unique_ptr<DeviceLegendreStage> make_device_stage_in_blocks(const LegendreShape& shape,
                                                                 const RowBlocks& blocks,
                                                                 const DeviceStream& stream);

/// Counts the memory that a sequence of launches would take on a device; runs and holds nothing.
class CountingMachine {
 public:
  template <class T>
  class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::int64_t size) : bytes_(size * std::int64_t{sizeof(T)}) {}
    /// An address to count from; nothing is there.
    T* data() const { return reinterpret_cast<T*>(alignof(T)); }
    std::int64_t bytes() const { return bytes_; }

   private:
    std::int64_t bytes_ = 0;
  };

  template <class T>
  Buffer<T> allocate(std::int64_t size) const {
    return Buffer<T>(size);
  }
  template <class T>
  Buffer<T> upload(const T*, std::int64_t size) const {
    return Buffer<T>(size);
  }
  template <class T>
  Buffer<T> upload(const std::vector<T>& values) const {
    return upload(values.data(), ssize64(values));
  }
  template <class Work>
  void launch(const Work&, std::int64_t) const {}
};

}  // namespace ringweave::detail::gpu
