// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline io {

/// The owner of each pixel of the full grid, from the rings of every rank. The same on every rank.
class PixelOwners {
 public:
  /// Collective. Error  UsageError when two ranks own one ring.
  PixelOwners(const Communicator& comm, const LocalRings& rings);
  /// Returns the owner of a pixel in RING order; -1 when it has none.
  int owner(std::int64_t ring_pixel) const;

 private:
  std::shared_ptr<const RingGrid> grid_;
  std::vector<int> ring_owner_;
};

/// Returns the rank that claims each of `count` items (-1: none), from the claims of every rank.
/// Collective. Error  UsageError naming `what` when two ranks claim one.
std::vector<int> agree_on_owners(const Communicator& comm, const std::vector<std::int64_t>& mine,
                                 std::int64_t count, const char* what);

}  // namespace ringweave::detail::inline io
