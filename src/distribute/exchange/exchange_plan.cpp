// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange_plan.hpp"

#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/transpose_schedule.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

ExchangePlan plan_exchange(const ModeLimits& limits, const FoldRule& fold,
                           const OrderDistribution& orders, const RingDistribution& rings, int rank,
                           Folding folding) {
  const TransposeSchedule schedule(limits, fold, orders, rings, folding);
  ExchangePlan plan;
  std::vector<std::int64_t> start(to_size(std::int64_t{schedule.mmax()} + 1));
  std::int64_t size = 0;
  for (int peer = 0; peer < schedule.n_ranks(); ++peer) {
    const std::int64_t first = size;
    for (const int m : schedule.sequence(peer)) {
      start[to_size(m)] = size;
      size += schedule.modes(m, rank);
    }
    plan.by_ring_blocks.push_back({first, size - first});
  }
  plan.by_ring.set_size(size);

  for (int m = 0; m <= schedule.mmax(); ++m) {
    plan.by_ring.begin_row(m);
    if (schedule.folded(m)) plan.by_ring.fold_row(schedule.alias(m), schedule.fold_rings(m));
    std::int64_t next = start[to_size(m)];
    for (const RingRange& band : schedule.rings().bands(rank)) {
      for (const RingRange& run : schedule.runs(m, band)) {
        plan.by_ring.add_segment(run, next);
        next += run.size();
      }
    }
  }
  return plan;
}

}  // namespace ringweave::detail::inline distribute
