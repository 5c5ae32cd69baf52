// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/order_passes.hpp"

#include <algorithm>
#include <span>

#include "base/checked_cast.hpp"
#include "distribute/exchange/transpose_schedule.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Counts the modes of a rank's orders on rings of other ranks.
std::int64_t exchanged(const TransposeSchedule& schedule, int rank, std::span<const int> orders) {
  std::int64_t modes = 0;
  for (const int m : orders) modes += schedule.modes(m) - schedule.modes(m, rank);
  return modes;
}

/// Returns where n pieces of a sequence of orders begin, and its length at the end.
std::vector<std::int64_t> cuts_of(const TransposeSchedule& schedule, std::span<const int> sequence,
                                  int n, std::int64_t row_multiple) {
  std::int64_t total = 0;
  std::int64_t all_rows = 0;
  for (const int m : sequence) {
    total += schedule.modes(m);
    all_rows += schedule.folded(m) ? 0 : 1;
  }
  // With few orders per pass, rounding to the multiple would leave some passes empty.
  const std::int64_t multiple = all_rows >= 2 * row_multiple * n ? row_multiple : 1;
  std::vector<std::int64_t> cuts{0};
  std::int64_t done = 0;
  std::int64_t rows = 0;
  std::int64_t next = 0;
  const std::int64_t end = ssize64(sequence);
  for (int piece = 1; piece < n; ++piece) {
    const std::int64_t wanted = total / n * piece + total % n * piece / n;
    const auto in_group = [&] { return next < end && schedule.folded(sequence[to_size(next)]); };
    while (next < end && (done < wanted || in_group() || rows % multiple != 0)) {
      const int m = sequence[to_size(next++)];
      done += schedule.modes(m);
      rows += schedule.folded(m) ? 0 : 1;
    }
    cuts.push_back(next);
  }
  cuts.push_back(end);
  return cuts;
}

std::span<const int> orders_of(std::span<const int> sequence, std::span<const std::int64_t> cuts,
                               std::size_t piece) {
  return sequence.subspan(to_size(cuts[piece]), to_size(cuts[piece + 1] - cuts[piece]));
}

/// Plans the ring side: the blocks of the whole exchange, cut where the peers' passes begin.
void cut_by_ring(const TransposeSchedule& schedule, int rank, const ExchangePlan& whole,
                 const OrderPassOptions& options, OrderPasses& plan) {
  for (int peer = 0; peer < schedule.n_ranks(); ++peer) {
    const auto theirs = schedule.sequence(peer);
    const auto cuts = cuts_of(schedule, theirs, options.n_passes, options.row_multiple);
    std::int64_t next = whole.by_ring_blocks[to_size(peer)].first;
    for (std::size_t p = 0; p < plan.passes.size(); ++p) {
      OrderPasses::Pass& pass = plan.passes[p];
      std::int64_t count = 0;
      for (const int m : orders_of(theirs, cuts, p)) count += schedule.modes(m, rank);
      if (peer == rank) pass.own = {next, count};
      pass.by_ring_blocks.push_back({next, peer == rank ? 0 : count});
      next += count;
    }
  }
}

/// Plans the order side.
class PassWriter {
 public:
  PassWriter(const TransposeSchedule& schedule, int rank, std::int64_t by_ring_size)
      : schedule_(schedule),
        rank_(rank),
        by_ring_size_(by_ring_size),
        mine_(schedule.orders(rank)),
        segments_(mine_.size()) {}

  /// Lays a pass out, [peer][order of the pass], from position `next` of the slots on.
  void lay_out(std::span<const int> orders, std::int64_t next, OrderPasses::Pass& pass) {
    for (int peer = 0; peer < schedule_.n_ranks(); ++peer) {
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
      if (schedule_.folded(m)) {
        layout.fold_row(static_cast<std::int64_t>(row_of(schedule_.alias(m))),
                        schedule_.fold_rings(m));
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
  /// Adds the segments of `orders` on a peer's rings; returns how many modes they have.
  std::int64_t add_segments(std::span<const int> orders, int peer, std::int64_t first) {
    std::int64_t next = first;
    for (const int m : orders) {
      for (const RingRange& band : schedule_.rings().bands(peer)) {
        for (const RingRange& rings : schedule_.runs(m, band)) {
          if (!rings.empty()) segments_[row_of(m)].push_back({rings, next});
          next += rings.size();
        }
      }
    }
    return next - first;
  }

  const TransposeSchedule& schedule_;
  int rank_;
  std::int64_t by_ring_size_;
  std::span<const int> mine_;
  std::vector<std::vector<RowSegment>> segments_;  ///< [row]
};

/// Cuts a pass that is already laid out into parts.
void cut_into_parts(const TransposeSchedule& schedule, int rank, std::span<const int> in_pass,
                    const PassWriter& rows, const OrderPassOptions& options,
                    OrderPasses::Pass& pass) {
  const auto cuts = cuts_of(schedule, in_pass, options.n_parts, options.row_multiple);
  std::vector<ExchangePlan::Block> next = pass.by_order_blocks;
  for (std::size_t p = 0; p + 1 < cuts.size(); ++p) {
    const auto orders = orders_of(in_pass, cuts, p);
    if (orders.empty()) continue;
    OrderPasses::Part& part = pass.parts.emplace_back();
    // The orders that do not fold are ascending, so the last of them ends the range of rows.
    const auto last =
        std::find_if(orders.rbegin(), orders.rend(), [&](int m) { return !schedule.folded(m); });
    part.rows = {static_cast<std::int64_t>(rows.row_of(orders.front())),
                 static_cast<std::int64_t>(rows.row_of(*last)) + 1};
    for (int peer = 0; peer < schedule.n_ranks(); ++peer) {
      std::int64_t& first = next[to_size(peer)].first;
      std::int64_t count = 0;
      for (const int m : orders) count += peer == rank ? 0 : schedule.modes(m, peer);
      part.slots.push_back({first, count});
      first += count;
    }
  }
}

}  // namespace

OrderPasses plan_order_passes(const ModeLimits& limits, const FoldRule& fold,
                              const OrderDistribution& orders, const RingDistribution& rings,
                              int rank, const ExchangePlan& whole,
                              const OrderPassOptions& options) {
  const TransposeSchedule schedule(limits, fold, orders, rings, options.folding);
  OrderPasses plan;
  plan.passes.resize(to_size(options.n_passes));
  plan.by_ring_size = whole.by_ring.size();
  cut_by_ring(schedule, rank, whole, options, plan);

  const auto mine = schedule.sequence(rank);
  const auto cuts = cuts_of(schedule, mine, options.n_passes, options.row_multiple);
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    plan.slot_positions =
        std::max(plan.slot_positions, exchanged(schedule, rank, orders_of(mine, cuts, p)));
  }
  PassWriter writer(schedule, rank, plan.by_ring_size);
  for (std::size_t p = 0; p < plan.passes.size(); ++p) {
    OrderPasses::Pass& pass = plan.passes[p];
    const auto in_pass = orders_of(mine, cuts, p);
    writer.lay_out(in_pass, static_cast<std::int64_t>(p) % options.n_slots * plan.slot_positions,
                   pass);
    cut_into_parts(schedule, rank, in_pass, writer, options, pass);
  }
  writer.write_rows(plan.by_order);
  plan.by_order.set_size(plan.by_ring_size + plan.slot_positions * options.n_slots);
  return plan;
}

}  // namespace ringweave::detail::inline distribute
