// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sphere/local_rings.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave {

/// Which rank owns which rings: consecutive ring pairs, that is a band of northern rings and its
/// southern mirror. Plain data, the same on every rank; any number of ranks, also more than there
/// are pairs (the surplus ranks own no ring).
class RingDistribution {
 public:
  /// The cuts balance a transform's FFT work and memory (pixels and modes), not ring counts.
  RingDistribution(std::shared_ptr<const RingGrid> grid, const ModeLimits& limits, int n_ranks);
  /// The cuts balance a cost of the caller's: costs[ring], of arbitrary unit, not negative.
  /// Error  UsageError unless every ring has such a cost, and when their sum passes 2^61.
  RingDistribution(std::shared_ptr<const RingGrid> grid, std::span<const std::int64_t> costs,
                   int n_ranks);

  int n_ranks() const { return static_cast<int>(pair_cuts_.size()) - 1; }
  const std::shared_ptr<const RingGrid>& grid() const { return grid_; }
  RingRange north(int rank) const { return north_[static_cast<std::size_t>(rank)]; }
  RingRange south(int rank) const { return south_[static_cast<std::size_t>(rank)]; }
  std::int64_t n_rings(int rank) const { return north(rank).size() + south(rank).size(); }
  LocalRings rings(int rank) const { return {grid_, north(rank), south(rank)}; }
  int owner(RingId ring) const { return owner_[static_cast<std::size_t>(ring)]; }
  /// Pairs [pair_cuts()[rank], pair_cuts()[rank + 1]) belong to a rank.
  const std::vector<std::int64_t>& pair_cuts() const { return pair_cuts_; }

 private:
  std::shared_ptr<const RingGrid> grid_;
  std::vector<std::int64_t> pair_cuts_;
  std::vector<RingRange> north_;
  std::vector<RingRange> south_;
  std::vector<int> owner_;  ///< [ring]
};

}  // namespace ringweave
