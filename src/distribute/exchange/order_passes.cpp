// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/order_passes.hpp"

#include <algorithm>
#include <span>

#include "base/checked_cast.hpp"
#include "distribute/exchange/transpose_schedule.hpp"

namespace ringweave {
namespace {

/// Modes of orders of a rank that others own the rings of.
std::int64_t travelling(const TransposeSchedule& traffic, int rank, std::span<const int> orders) {
  std::int64_t modes = 0;
  for (const int m : orders) modes += traffic.modes(m) - traffic.modes(m, rank);
  return modes;
}

/// Where the passes of a rank begin in its sequence of orders, and its length at the end.
std::vector<std::int64_t> pass_cuts(const TransposeSchedule& traffic, std::span<const int> sequence,
                                    const OrderPassOptions& options) {
  const int n_passes = options.n_passes;
  std::int64_t total = 0;
  std::int64_t all_rows = 0;
  for (const int m : sequence) {
    total += traffic.modes(m);
    all_rows += traffic.folded(m) ? 0 : 1;
  }
  // Multiples of what passes have few of would leave some of them empty.
  const std::int64_t multiple =
      all_rows >= 2 * options.row_multiple * n_passes ? options.row_multiple : 1;
  std::vector<std::int64_t> cuts{0};
  std::int64_t done = 0;
  std::int64_t rows = 0;
  std::int64_t next = 0;
  const std::int64_t end = ssize64(sequence);
  for (int pass = 1; pass < n_passes; ++pass) {
    const std::int64_t wanted = total / n_passes * pass + total % n_passes * pass / n_passes;
    const auto in_group = [&] { return next < end && traffic.folded(sequence[to_size(next)]); };
    while (next < end && (done < wanted || in_group() || rows % multiple != 0)) {
      const int m = sequence[to_size(next++)];
      done += traffic.modes(m);
      rows += traffic.folded(m) ? 0 : 1;
    }
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
void cut_by_ring(const TransposeSchedule& traffic, int rank, const ExchangePlan& whole,
                 const OrderPassOptions& options, OrderPasses& plan) {
  for (int peer = 0; peer < traffic.n_ranks(); ++peer) {
    const auto theirs = traffic.sequence(peer);
    const auto cuts = pass_cuts(traffic, theirs, options);
    std::int64_t next = whole.by_ring_blocks[to_size(peer)].first;
    for (std::size_t p = 0; p < plan.passes.size(); ++p) {
      OrderPasses::Pass& pass = plan.passes[p];
      std::int64_t count = 0;
      for (const int m : orders_of(theirs, cuts, p)) count += traffic.modes(m, rank);
      if (peer == rank) pass.own = {next, count};
      pass.by_ring_blocks.push_back({next, peer == rank ? 0 : count});
      next += count;
    }
  }
}

/// The order side.
class RowWriter {
 public:
  RowWriter(const TransposeSchedule& traffic, int rank, std::int64_t by_ring_size)
      : traffic_(traffic),
        rank_(rank),
        by_ring_size_(by_ring_size),
        mine_(traffic.orders(rank)),
        segments_(mine_.size()) {}

  /// Lays a pass out, [peer][order of the pass], from position `next` of the slots on.
  void lay_out(std::span<const int> orders, std::int64_t next, OrderPasses::Pass& pass) {
    for (int peer = 0; peer < traffic_.n_ranks(); ++peer) {
      if (peer == rank_) {
        add_segments(orders, peer, pass.own.first);
        pass.by_order_blocks.push_back({next, 0});
        continue;
      }
      const std::int64_t count = add_segments(orders, peer, by_ring_size_ + next);
      pass.by_order_blocks.push_back({next, count});
      next += count;
    }
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
  /// Returns how many modes they have.
  std::int64_t add_segments(std::span<const int> orders, int peer, std::int64_t first) {
    std::int64_t next = first;
    for (const int m : orders) {
      for (const RingRange& band : traffic_.rings().bands(peer)) {
        for (const RingRange& rings : traffic_.runs(m, band)) {
          if (!rings.empty()) segments_[row_of(m)].push_back({rings, next});
          next += rings.size();
        }
      }
    }
    return next - first;
  }

  const TransposeSchedule& traffic_;
  int rank_;
  std::int64_t by_ring_size_;
  std::span<const int> mine_;
  std::vector<std::vector<RowSegment>> segments_;  ///< [row]
};

}  // namespace

std::int64_t OrderPasses::most_exchanged() const {
  const auto sum = [](const std::vector<ExchangePlan::Block>& blocks) {
    std::int64_t positions = 0;
    for (const ExchangePlan::Block& block : blocks) positions += block.count;
    return positions;
  };
  std::int64_t most = 0;
  for (const Pass& pass : passes)
    most = std::max({most, sum(pass.by_order_blocks), sum(pass.by_ring_blocks)});
  return most;
}

OrderPasses plan_order_passes(const ModeLimits& limits, const FoldRule& fold,
                              const OrderDistribution& orders, const RingDistribution& rings,
                              int rank, const ExchangePlan& whole,
                              const OrderPassOptions& options) {
  const TransposeSchedule traffic(limits, fold, orders, rings, options.folding);
  OrderPasses plan;
  plan.passes.resize(to_size(options.n_passes));
  plan.by_ring_size = whole.by_ring.size();
  cut_by_ring(traffic, rank, whole, options, plan);

  const auto mine = traffic.sequence(rank);
  const auto cuts = pass_cuts(traffic, mine, options);
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    plan.slot_positions =
        std::max(plan.slot_positions, travelling(traffic, rank, orders_of(mine, cuts, p)));
  }
  RowWriter writer(traffic, rank, plan.by_ring_size);
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    OrderPasses::Pass& pass = plan.passes[p];
    const auto in_pass = orders_of(mine, cuts, p);
    writer.lay_out(in_pass, static_cast<std::int64_t>(p) % options.n_slots * plan.slot_positions,
                   pass);
    if (in_pass.empty()) continue;
    // The orders that do not fold ascend, so the last of them ends the range of rows.
    const auto last =
        std::find_if(in_pass.rbegin(), in_pass.rend(), [&](int m) { return !traffic.folded(m); });
    pass.first_row = static_cast<std::int64_t>(writer.row_of(in_pass.front()));
    pass.n_rows = static_cast<std::int64_t>(writer.row_of(*last)) + 1 - pass.first_row;
  }
  writer.write_rows(plan.by_order);
  plan.by_order.set_size(plan.by_ring_size + plan.slot_positions * options.n_slots);
  return plan;
}

}  // namespace ringweave
