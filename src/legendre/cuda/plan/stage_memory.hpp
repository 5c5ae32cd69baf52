// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/fft_size.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::detail::gpu {

/// Memory limits of a stage, tables of its rings and rows excluded. Results do not depend on them,
/// but for the rounding of fine rows.
struct StageMemory {
  /// Limit for the workspace of a batch of orders: enough orders to fill any device, and small
  /// compared with the modes of a transform that needs more.
  std::int64_t workspace_bytes = std::int64_t{1} << 30;
  /// Limit for keeping the coefficients of all rows; if they need more, those of each batch are
  /// computed before its sweep.
  std::int64_t coefficient_bytes = std::int64_t{1} << 30;
  /// Limit for the columns of FFTs in theta, from which fine rows are made, and their work memory.
  std::int64_t theta_bytes = std::int64_t{128} << 20;
};

/// Memory limits of a stage that works on blocks of rows (RowBlocks), two at a time.
struct BlockMemory {
  StageMemory stage;
  std::int64_t block_bytes;
};

/// Divides shape.device_bytes for a stage in blocks; a quarter is left for tables. Fine rows take
/// half of the workspace.
inline BlockMemory memory_in_blocks(const LegendreShape& shape) {
  const StageMemory usual;
  const std::int64_t quarter = shape.device_bytes / 4;
  const std::int64_t sweeps = shape.fine_rows == nullptr ? quarter : quarter / 2;
  return {{std::min(usual.workspace_bytes, sweeps), std::min(usual.coefficient_bytes, quarter),
           std::min(usual.theta_bytes, quarter / 2)},
          std::min(usual_block_bytes, quarter / 2)};
}

/// Places of the a_lm of a stage.
struct AlmPlaces {
  std::int64_t size;                    ///< coefficients of a component
  std::span<const std::int64_t> begin;  ///< [row] as in StageSequence
};

// Make a stage as make_device_legendre_stage does, with its memory, for a_lm in these places.

/// Makes a stage of plain modes.
std::unique_ptr<DeviceLegendreStage> make_device_sums(const LegendreShape& shape,
                                                      const StageMemory& memory,
                                                      const AlmPlaces& alm,
                                                      const DeviceStream& stream, BatchedSums sums);
/// Makes a stage of fine rows. parts  as in FineRowPlan
std::unique_ptr<DeviceLegendreStage> make_device_fine_rows(
    const LegendreShape& shape, std::span<const RowRange> parts, const StageMemory& memory,
    const AlmPlaces& alm, const DeviceStream& stream, BatchedSums sums);

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

  /// FFTs whose work memory is as large as their rows.
  class Fft {
   public:
    explicit Fft(const FftSize& size) : bytes_(size.bytes()) {}
    std::int64_t work_bytes() const { return bytes_; }
    void work_in(void*) const {}

   private:
    std::int64_t bytes_;
  };
  Fft plan_fft(const FftSize& size) const { return Fft(size); }
};

}  // namespace ringweave::detail::gpu
