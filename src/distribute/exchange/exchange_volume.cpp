// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange_volume.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

bool folds_away(const ModeLimits& limits, const FoldRule& fold, const OrderDistribution& orders,
                int m, Folding folding) {
  if (folding == Folding::keep || !fold.active()) return false;
  const int m0 = fold.alias(m).m0;
  return m0 < m && orders.owner(m0) == orders.owner(m) &&
         !intersection(fold.rings, limits.kept(m)).empty();
}

std::int64_t ExchangeVolume::total_sent() const {
  return std::accumulate(by_order.begin(), by_order.end(), std::int64_t{0}) -
         std::accumulate(own.begin(), own.end(), std::int64_t{0});
}

std::int64_t ExchangeVolume::most_sent() const {
  std::int64_t most = 0;
  for (std::size_t rank = 0; rank < by_order.size(); ++rank)
    most = std::max(most, sent(static_cast<int>(rank)));
  return most;
}

std::int64_t ExchangeVolume::largest_side() const {
  return std::max(*std::max_element(by_order.begin(), by_order.end()),
                  *std::max_element(by_ring.begin(), by_ring.end()));
}

ExchangeVolume exchange_volume(const ModeLimits& limits, const FoldRule& fold,
                               const OrderDistribution& orders, const RingDistribution& rings,
                               Folding folding) {
  const std::size_t n_ranks = to_size(orders.n_ranks());
  const std::int64_t n_orders = std::int64_t{limits.mmax()} + 1;
  ExchangeVolume volume{std::vector<std::int64_t>(n_ranks), std::vector<std::int64_t>(n_ranks),
                        std::vector<std::int64_t>(n_ranks), 0};

  // folded_below[m]: number of orders below m that are folded away on the rings that fold.
  std::vector<std::int64_t> folded_below(to_size(n_orders + 1), 0);
  for (int m = 0; m < n_orders; ++m) {
    const bool folded = folds_away(limits, fold, orders, m, folding);
    folded_below[to_size(m + 1)] = folded_below[to_size(m)] + (folded ? 1 : 0);

    const std::size_t rank = to_size(orders.owner(m));
    const auto modes_on = [&](const RingRange& some) {
      const RingRange kept = intersection(limits.kept(m), some);
      return kept.size() - (folded ? intersection(kept, fold.rings).size() : 0);
    };
    volume.by_order[rank] += modes_on(limits.kept(m));
    for (const RingRange& band : rings.bands(orders.owner(m))) volume.own[rank] += modes_on(band);
  }
  for (std::int64_t r = 0; r < limits.n_rings(); ++r) {
    const std::int64_t kept = std::int64_t{limits.m_limit(RingId{r})} + 1;
    const std::int64_t folded = fold.rings.contains(r) ? folded_below[to_size(kept)] : 0;
    volume.by_ring[to_size(rings.owner(RingId{r}))] += kept - folded;
  }
  for (int rank = 0; rank < orders.n_ranks(); ++rank) {
    const std::int64_t other_rings = limits.n_rings() - rings.n_rings(rank);
    volume.dense_sent += ssize64(orders.orders(rank)) * other_rings;
  }
  return volume;
}

}  // namespace ringweave::detail::inline distribute
