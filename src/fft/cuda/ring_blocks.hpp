// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/block_pipeline.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {

/// Positions that are consecutive both in one layout and in another.
struct PositionRun {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

/// Consecutive owned rings as a separate ring FFT.
struct DeviceRings {
  RingFftShape shape;
  std::vector<PositionRun> runs;  ///< from the whole layout to the block, without padding
  std::int64_t first_ring = 0;    ///< owned
  std::int64_t first_pixel = 0;   ///< owned
};

/// Cuts the owned rings into `n_blocks` blocks whose modes and pixels take about the same memory.
/// Error  UsageError when the shape is inconsistent.
std::vector<DeviceRings> cut_rings(const RingFftShape& shape, std::int64_t n_blocks);

/// Blocks of at most usual_block_bytes, as few as possible (1, 2, 4, ...), that fit a memory limit:
/// the plans of all blocks, their workspace, and the data of those in flight (BlockPipeline).
struct RingBlocks {
  std::vector<DeviceRings> blocks;
  // The most of any block:
  std::int64_t n_modes = 0;
  std::int64_t n_pixels = 0;  ///< with padding (component_stride)
  std::int64_t n_rings = 0;
  BlockBytes bytes{0, 0};  ///< of all these
};
/// Returns the fewest blocks that fit `most_bytes` of the device. Error  ResourceError when no
/// number of blocks fits.
RingBlocks blocks_that_fit(const RingFftShape& shape, std::int64_t most_bytes);

/// Returns the distance of components on the device in pixels; even, so that all components are
/// aligned for FFTs.
inline std::int64_t component_stride(const DeviceRings& block) {
  return (block.shape.rings.n_pixels() + 1) / 2 * 2;
}

}  // namespace ringweave::detail::inline fft
