// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

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

/// The fewest blocks (1, 2, 4, ...) that fit a memory limit: the plans of all blocks with their
/// workspaces, and the modes and pixels of one.
struct RingBlocks {
  std::vector<DeviceRings> blocks;
  std::int64_t workspace_bytes = 0;
  std::int64_t device_bytes = 0;  ///< of all these
};
/// Error  ResourceError when no number of blocks fits `most_bytes`.
RingBlocks blocks_that_fit(const RingFftShape& shape, std::int64_t most_bytes);

}  // namespace ringweave::detail::inline fft
