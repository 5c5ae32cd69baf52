// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/order_passes.hpp"

#include <algorithm>
#include <span>

#include "base/checked_cast.hpp"
#include "distribute/traffic.hpp"

namespace ringweave {
namespace {

/// Where the passes of a rank begin in its sequence of orders, and its length at the end.
std::vector<std::int64_t> pass_cuts(const Traffic& traffic, std::span<const int> sequence,
                                    int n_passes) {
  std::int64_t total = 0;
  for (const int m : sequence) total += traffic.modes(m);
  std::vector<std::int64_t> cuts{0};
  std::int64_t done = 0;
  std::int64_t next = 0;
  const std::int64_t end = ssize64(sequence);
  for (int pass = 1; pass < n_passes; ++pass) {
    const std::int64_t wanted = total / n_passes * pass + total % n_passes * pass / n_passes;
    const auto in_group = [&] { return next < end && traffic.folded(sequence[to_size(next)]); };
    while (next < end && (done < wanted || in_group()))
      done += traffic.modes(sequence[to_size(next++)]);
    cuts.push_back(next);
  }
  cuts.push_back(end);
  return cuts;
}

std::span<const int> orders_of(std::span<const int> sequence, std::span<const std::int64_t> cuts,
                               std::size_t pass) {
  return sequence.subspan(to_size(cuts[pass]), to_size(cuts[pass + 1] - cuts[pass]));
}

/// The ring side: the blocks of the whole exchange, cut where the peers' passes begin.
void cut_by_ring(const Traffic& traffic, int rank, const ExchangePlan& whole, OrderPasses& plan) {
  const int n_passes = checked_cast<int>(ssize64(plan.passes), "passes");
  for (int peer = 0; peer < traffic.n_ranks(); ++peer) {
    const auto theirs = traffic.sequence(peer);
    const auto cuts = pass_cuts(traffic, theirs, n_passes);
    std::int64_t next = whole.by_ring_blocks[to_size(peer)].first;
    for (std::size_t p = 0; p < plan.passes.size(); ++p) {
      std::int64_t count = 0;
      for (const int m : orders_of(theirs, cuts, p)) count += traffic.modes(m, rank);
      plan.passes[p].by_ring_blocks.push_back({next, count});
      next += count;
    }
  }
}

/// The order side within the slots: [peer][order of the pass].
class SlotWriter {
 public:
  SlotWriter(const Traffic& traffic, int rank) : traffic_(traffic), mine_(traffic.orders(rank)) {
    segments_.resize(mine_.size());
  }

  /// Lays a pass out from position 0 of its slot and returns what it needs.
  std::int64_t lay_out(std::span<const int> orders, OrderPasses::Pass& pass) {
    std::int64_t next = 0;
    for (int peer = 0; peer < traffic_.n_ranks(); ++peer) {
      const std::int64_t first = next;
      for (const int m : orders) {
        for (const RingRange& band : traffic_.rings().bands(peer)) {
          for (const RingRange& rings : traffic_.runs(m, band)) {
            if (!rings.empty()) segments_[row_of(m)].push_back({rings, next});
            next += rings.size();
          }
        }
      }
      pass.by_order_blocks.push_back({first, next - first});
    }
    return next;
  }
  /// Moves a pass that was laid out to where its slot begins.
  void shift(std::span<const int> orders, std::int64_t by, OrderPasses::Pass& pass) {
    for (ExchangePlan::Block& block : pass.by_order_blocks) block.first += by;
    for (const int m : orders)
      for (RowSegment& segment : segments_[row_of(m)]) segment.first += by;
  }
  void write_rows(ModeLayout& layout) {
    for (std::size_t row = 0; row < mine_.size(); ++row) {
      const int m = mine_[row];
      layout.begin_row(m);
      if (traffic_.folded(m)) {
        layout.fold_row(static_cast<std::int64_t>(row_of(traffic_.alias(m))),
                        traffic_.fold_rings(m));
      }
      std::sort(
          segments_[row].begin(), segments_[row].end(),
          [](const RowSegment& a, const RowSegment& b) { return a.rings.begin < b.rings.begin; });
      for (const RowSegment& segment : segments_[row])
        layout.add_segment(segment.rings, segment.first);
    }
  }

  std::size_t row_of(int m) const {
    return to_size(std::lower_bound(mine_.begin(), mine_.end(), m) - mine_.begin());
  }

 private:
  const Traffic& traffic_;
  std::span<const int> mine_;
  std::vector<std::vector<RowSegment>> segments_;  ///< [row]
};

}  // namespace

OrderPasses plan_order_passes(const ModeLimits& limits, const FoldRule& fold,
                              const OrderDistribution& orders, const RingDistribution& rings,
                              int rank, const ExchangePlan& whole,
                              const OrderPassOptions& options) {
  const Traffic traffic(limits, fold, orders, rings, options.folding);
  OrderPasses plan;
  plan.passes.resize(to_size(options.n_passes));
  plan.by_ring_size = whole.by_ring.size();
  cut_by_ring(traffic, rank, whole, plan);

  const auto mine = traffic.sequence(rank);
  const auto cuts = pass_cuts(traffic, mine, options.n_passes);
  SlotWriter writer(traffic, rank);
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    OrderPasses::Pass& pass = plan.passes[p];
    const auto in_pass = orders_of(mine, cuts, p);
    plan.slot_positions = std::max(plan.slot_positions, writer.lay_out(in_pass, pass));
    if (in_pass.empty()) continue;
    // The orders that do not fold ascend, so the last of them ends the range of rows.
    const auto last =
        std::find_if(in_pass.rbegin(), in_pass.rend(), [&](int m) { return !traffic.folded(m); });
    pass.first_row = static_cast<std::int64_t>(writer.row_of(in_pass.front()));
    pass.n_rows = static_cast<std::int64_t>(writer.row_of(*last)) + 1 - pass.first_row;
  }
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    const auto slot = static_cast<std::int64_t>(p) % options.n_slots;
    writer.shift(orders_of(mine, cuts, p), slot * plan.slot_positions, plan.passes[p]);
  }
  writer.write_rows(plan.by_order);
  plan.by_order.set_size(plan.slot_positions * options.n_slots);
  return plan;
}

}  // namespace ringweave
