// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "fft/ring_fft.hpp"

namespace ringweave {

/// Positions of a layout that follow each other in another one too.
struct PositionRun {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

/// Owned rings that follow each other, as a ring FFT of their own.
struct DeviceRings {
  RingFftShape shape;
  std::vector<PositionRun> runs;  ///< from the whole layout to the block's, which has no padding
  std::int64_t first_ring = 0;    ///< owned
  std::int64_t first_pixel = 0;   ///< owned
};

/// All owned rings in `n_blocks` blocks whose modes and pixels take about equally much memory.
/// Error  UsageError when the shape contradicts itself.
std::vector<DeviceRings> cut_rings(const RingFftShape& shape, std::int64_t n_blocks);

/// The fewest blocks that go through `most_bytes` of a device one after the other, plans of all
/// and modes and pixels of one, and the workspace of each plan.
struct RingBlocks {
  std::vector<DeviceRings> blocks;
  std::int64_t workspace_bytes = 0;
  std::int64_t device_bytes = 0;  ///< all of this
};
/// Error  ResourceError when there is no such number.
RingBlocks blocks_that_fit(const RingFftShape& shape, std::int64_t most_bytes);

}  // namespace ringweave
