// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/row_parts.hpp"

#include "base/checked_cast.hpp"
#include "distribute/exchange/order_passes.hpp"

namespace ringweave {

std::vector<RowPart> plan_row_parts(const ModeLimits& limits, const FoldRule& fold,
                                    const OrderDistribution& orders, const RingDistribution& rings,
                                    int rank, const ExchangePlan& whole, Folding folding,
                                    int n_parts) {
  // Passes cut the sequence in which orders lie in every block; here they stay where they are.
  const OrderPasses passes =
      plan_order_passes(limits, fold, orders, rings, rank, whole,
                        {.folding = folding, .n_passes = n_parts, .n_slots = 1});
  std::vector<ExchangePlan::Block> next = whole.by_order_blocks;
  std::vector<RowPart> parts;
  for (const OrderPasses::Pass& pass : passes.passes) {
    if (pass.n_rows == 0) continue;
    RowPart& part = parts.emplace_back(RowPart{pass.first_row, pass.n_rows, {}});
    for (std::size_t peer = 0; peer < next.size(); ++peer) {
      const bool own = peer == to_size(rank);
      const std::int64_t count = own ? pass.own.count : pass.by_order_blocks[peer].count;
      part.blocks.push_back({next[peer].first, count});
      next[peer].first += count;
    }
  }
  return parts;
}

}  // namespace ringweave
