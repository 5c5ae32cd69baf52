// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribute/mpi/communicator.hpp"
#include "io/hdf5/limits.hpp"
#include "io/hdf5/rows.hpp"
#include "io/pixel_blocks.hpp"

namespace ringweave {

/// One transfer between a file in RING order and consecutive local pixels.
struct SlabCall {
  std::vector<RowRun> runs;
  std::int64_t first_local = 0;
  std::int64_t count = 0;
};

/// Splits a rank's pixels into calls within the limits; every rank gets the same number of calls,
/// the surplus empty. Collective.
std::vector<SlabCall> slab_calls(const Communicator& comm, std::span<const PixelRun> owned,
                                 const Hdf5Limits& limits);

}  // namespace ringweave
