// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "distribute/exchange/exchange_volume.hpp"
#include "distribute/exchange/order_distribution.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/execution.hpp"
#include "sphere/mode_layout.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline distribute {

/// The ring side of a rank's exchange, as plain data computed without MPI; OrderPasses is the order
/// side. Offsets and counts are in positions of the mode layout (one position: all components of
/// one mode).
struct ExchangePlan {
  /// Rows of all orders on this rank's rings; positions grouped by the owner of the order. Lists
  /// the rows that are folded; a folded row has no segment on `fold_rings`.
  ModeLayout by_ring;

  struct Block {
    std::int64_t first = 0;  ///< position
    std::int64_t count = 0;  ///< 0: nothing to or from this peer
  };
  std::vector<Block> by_ring_blocks;  ///< [owner of the orders]
};

/// Bytes of an exchanged mode of one component.
constexpr std::int64_t complex_bytes(ModePrecision precision) {
  return precision == ModePrecision::single_ ? 8 : 16;
}

/// Plans one rank; the plans of all ranks fit each other when made from equal arguments. Memory and
/// time O(mmax + n_rings + n_ranks + segments), at most one segment per order and band of this
/// rank, two where the order folds within it. Not collective.
ExchangePlan plan_exchange(const ModeLimits& limits, const FoldRule& fold,
                           const OrderDistribution& orders, const RingDistribution& rings, int rank,
                           Folding folding = Folding::fold);

}  // namespace ringweave::detail::inline distribute
