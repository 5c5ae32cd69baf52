// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange/order_distribution.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/execution.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline distribute {

/// Returns true if order m is summed into its alias (FoldRule) of lowest order, because both live
/// on one rank and some ring that folds keeps m.
bool folds_away(const ModeLimits& limits, const FoldRule& fold, const OrderDistribution& orders,
                int m, Folding folding);

/// Counts of the modes of one component in a transform's exchange, as plain data computed without
/// MPI, in O(mmax + n_rings + n_ranks).
struct ExchangeVolume {
  std::vector<std::int64_t> by_order;  ///< [rank] modes of its orders, its own rings included
  std::vector<std::int64_t> by_ring;   ///< [rank] modes on its rings, its own orders included
  std::vector<std::int64_t> own;       ///< [rank] modes that stay: order and ring both its own
  /// Modes all ranks together would send if every ring kept every order.
  std::int64_t dense_sent = 0;

  /// Modes a rank sends to others in synthesis.
  std::int64_t sent(int rank) const {
    return by_order[static_cast<std::size_t>(rank)] - own[static_cast<std::size_t>(rank)];
  }
  std::int64_t total_sent() const;
  std::int64_t most_sent() const;  ///< by any rank
  /// Most modes any rank holds on either side; MPI's counts must be able to express it.
  std::int64_t largest_side() const;
};

ExchangeVolume exchange_volume(const ModeLimits& limits, const FoldRule& fold,
                               const OrderDistribution& orders, const RingDistribution& rings,
                               Folding folding = Folding::fold);

}  // namespace ringweave::detail::inline distribute
