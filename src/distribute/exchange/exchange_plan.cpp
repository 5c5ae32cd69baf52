// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange_plan.hpp"

#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/transpose_schedule.hpp"
#include "ringweave/options.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Runs = TransposeSchedule::Runs;

/// Fills the current row of a layout; joins segments consecutive both in rings and in positions.
class RowWriter {
 public:
  explicit RowWriter(ModeLayout& layout) : layout_(layout) {}

  /// Adds the modes of `runs`, stored from `position` on.
  void add(const Runs& runs, std::int64_t position) {
    for (const RingRange& rings : runs) {
      if (rings.empty()) continue;
      const bool joins =
          rings.begin == pending_.rings.end && position == pending_.first + pending_.rings.size();
      if (joins) {
        pending_.rings.end = rings.end;
      } else {
        finish();
        pending_ = {rings, position};
      }
      position += rings.size();
    }
  }
  void finish() {
    layout_.add_segment(pending_.rings, pending_.first);
    pending_ = {};
  }

 private:
  ModeLayout& layout_;
  RowSegment pending_;
};

}  // namespace

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
    RowWriter writer(plan.by_ring);
    std::int64_t next = start[to_size(m)];
    for (const RingRange& band : schedule.rings().bands(rank)) {
      const Runs runs = schedule.runs(m, band);
      writer.add(runs, next);
      next += TransposeSchedule::count(runs);
    }
    writer.finish();
  }
  return plan;
}

}  // namespace ringweave::detail::inline distribute
