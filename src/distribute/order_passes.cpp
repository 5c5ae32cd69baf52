// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/order_passes.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/checked_cast.hpp"

namespace ringweave {
namespace {

/// The kept rings of an order in a rank's northern and southern band.
std::array<RingRange, 2> kept_in_bands(const ModeLimits& limits, const RingDistribution& rings,
                                       int m, int rank) {
  return {intersection(limits.kept(m), rings.north(rank)),
          intersection(limits.kept(m), rings.south(rank))};
}

std::int64_t n_kept(const ModeLimits& limits, const RingDistribution& rings, int m, int rank) {
  const auto [north, south] = kept_in_bands(limits, rings, m, rank);
  return north.size() + south.size();
}

/// Indices into a rank's orders where its passes begin, and their number at the end.
std::vector<std::size_t> pass_cuts(const ModeLimits& limits, std::span<const int> orders,
                                   int n_passes) {
  std::int64_t total = 0;
  for (const int m : orders) total += limits.kept(m).size();
  std::vector<std::size_t> cuts{0};
  std::int64_t done = 0;
  std::size_t row = 0;
  for (int pass = 1; pass < n_passes; ++pass) {
    while (row < orders.size() && done * n_passes < total * pass)
      done += limits.kept(orders[row++]).size();
    cuts.push_back(row);
  }
  cuts.push_back(orders.size());
  return cuts;
}

}  // namespace

OrderPasses plan_order_passes(const ModeLimits& limits, const OrderDistribution& orders,
                              const RingDistribution& rings, int rank, const ExchangePlan& whole,
                              int n_passes) {
  const int n_ranks = orders.n_ranks();
  OrderPasses plan;
  plan.passes.resize(to_size(n_passes));
  for (OrderPasses::Pass& pass : plan.passes) pass.exchange.by_ring.set_size(whole.by_ring.size());

  // The ring side: the blocks of the whole exchange, cut where the peers' passes begin.
  for (int peer = 0; peer < n_ranks; ++peer) {
    const std::span<const int> theirs = orders.orders(peer);
    const auto cuts = pass_cuts(limits, theirs, n_passes);
    std::int64_t next = whole.by_ring_blocks[to_size(peer)].first;
    for (std::size_t p = 0; p < plan.passes.size(); ++p) {
      std::int64_t count = 0;
      for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i)
        count += n_kept(limits, rings, theirs[i], rank);
      plan.passes[p].exchange.by_ring_blocks.push_back({next, count});
      next += count;
    }
  }

  // The order side: [peer][row] within a pass.
  const std::span<const int> mine = orders.orders(rank);
  const auto cuts = pass_cuts(limits, mine, n_passes);
  std::int64_t largest = 0;
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    OrderPasses::Pass& pass = plan.passes[p];
    pass.first_row = static_cast<std::int64_t>(cuts[p]);
    pass.n_rows = static_cast<std::int64_t>(cuts[p + 1] - cuts[p]);
    std::int64_t next = 0;
    std::vector<std::vector<RowSegment>> segments(to_size(pass.n_rows));
    for (int peer = 0; peer < n_ranks; ++peer) {
      const std::int64_t first = next;
      for (std::size_t i = cuts[p]; i < cuts[p + 1]; ++i) {
        for (const RingRange& part : kept_in_bands(limits, rings, mine[i], peer)) {
          if (!part.empty()) segments[i - cuts[p]].push_back({part, next});
          next += part.size();
        }
      }
      pass.exchange.by_order_blocks.push_back({first, next - first});
    }
    pass.exchange.by_order.set_size(next);
    largest = std::max(largest, next);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      plan.by_order.begin_row(mine[cuts[p] + i]);
      std::sort(
          segments[i].begin(), segments[i].end(),
          [](const RowSegment& a, const RowSegment& b) { return a.rings.begin < b.rings.begin; });
      for (const RowSegment& segment : segments[i])
        plan.by_order.add_segment(segment.rings, segment.first);
    }
  }
  // All passes use one buffer, as large as the largest needs.
  plan.by_order.set_size(largest);
  for (OrderPasses::Pass& pass : plan.passes) pass.exchange.by_order.set_size(largest);
  return plan;
}

}  // namespace ringweave
