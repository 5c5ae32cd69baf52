// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/device_legendre_stage.hpp"

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

/// A stage whose a_lm and modes are those of one block at a time: a call is for rows of one block,
/// with the places RowBlocks gives them. Error  as make_device_legendre_stage.
std::unique_ptr<DeviceLegendreStage> make_device_stage_in_blocks(const LegendreShape& shape,
                                                                 const RowBlocks& blocks,
                                                                 const DeviceStream& stream);

/// Runs nothing and holds nothing: what a sequence of launches would hold on a device.
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
  template <class Work>
  void launch(const Work&, std::int64_t) const {}
};

}  // namespace ringweave::gpu
