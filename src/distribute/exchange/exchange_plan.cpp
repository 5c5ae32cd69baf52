// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <span>

#include "base/checked_cast.hpp"
#include "distribute/exchange/transpose_schedule.hpp"

namespace ringweave {
namespace {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

using Runs = TransposeSchedule::Runs;

/// Fills the present row of a layout; joins what is consecutive both in rings and in positions.
class RowWriter {
 public:
  explicit RowWriter(ModeLayout& layout) : layout_(layout) {}

  /// The modes of `runs` lie at `position` and the following.
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

/// Lays blocks one after the other, each beginning at a multiple of the block size.
class BlockCursor {
 public:
  explicit BlockCursor(std::int64_t block_positions) : block_positions_(block_positions) {}

  void begin() { first_ = next_ = round_up(next_, block_positions_); }
  /// The position of the next `n` modes.
  std::int64_t take(std::int64_t n) {
    const std::int64_t position = next_;
    next_ += n;
    return position;
  }
  ExchangePlan::Block block() const { return {first_, next_ - first_}; }
  std::int64_t size() const { return round_up(next_, block_positions_); }

 private:
  std::int64_t block_positions_;
  std::int64_t first_ = 0;
  std::int64_t next_ = 0;
};

void lay_out_by_order(const TransposeSchedule& traffic, int rank, ExchangePlan& plan) {
  const std::span<const int> mine = traffic.orders(rank);
  const int n_ranks = traffic.n_ranks();
  std::vector<std::int64_t> start(mine.size() * to_size(n_ranks));
  const auto start_of = [&](std::size_t row, int peer) -> std::int64_t& {
    return start[to_size(peer) * mine.size() + row];
  };
  const auto row_of = [&](int m) {
    return to_size(std::lower_bound(mine.begin(), mine.end(), m) - mine.begin());
  };

  BlockCursor cursor(plan.block_positions);
  for (int peer = 0; peer < n_ranks; ++peer) {
    cursor.begin();
    for (const int m : traffic.sequence(rank)) {
      start_of(row_of(m), peer) = cursor.take(traffic.modes(m, peer));
    }
    plan.by_order_blocks.push_back(cursor.block());
  }
  plan.by_order.set_size(cursor.size());

  for (std::size_t row = 0; row < mine.size(); ++row) {
    const int m = mine[row];
    plan.by_order.begin_row(m);
    if (traffic.folded(m)) {
      plan.by_order.fold_row(static_cast<std::int64_t>(row_of(traffic.alias(m))),
                             traffic.fold_rings(m));
    }
    RowWriter writer(plan.by_order);
    for (const RingDistribution::OwnedBand& band : traffic.rings().bands()) {
      const Runs runs = traffic.runs(m, band.rings);
      std::int64_t& next = start_of(row, band.rank);
      writer.add(runs, next);
      next += TransposeSchedule::count(runs);
    }
    writer.finish();
  }
}

void lay_out_by_ring(const TransposeSchedule& traffic, int rank, ExchangePlan& plan) {
  std::vector<std::int64_t> start(to_size(std::int64_t{traffic.mmax()} + 1));
  BlockCursor cursor(plan.block_positions);
  for (int peer = 0; peer < traffic.n_ranks(); ++peer) {
    cursor.begin();
    for (const int m : traffic.sequence(peer)) {
      start[to_size(m)] = cursor.take(traffic.modes(m, rank));
    }
    plan.by_ring_blocks.push_back(cursor.block());
  }
  plan.by_ring.set_size(cursor.size());

  for (int m = 0; m <= traffic.mmax(); ++m) {
    plan.by_ring.begin_row(m);
    if (traffic.folded(m)) plan.by_ring.fold_row(traffic.alias(m), traffic.fold_rings(m));
    RowWriter writer(plan.by_ring);
    std::int64_t next = start[to_size(m)];
    for (const RingRange& band : traffic.rings().bands(rank)) {
      const Runs runs = traffic.runs(m, band);
      writer.add(runs, next);
      next += TransposeSchedule::count(runs);
    }
    writer.finish();
  }
}

/// One position while every count and displacement of every rank fits MPI's integers, else enough
/// for a block.
std::int64_t choose_block_positions(std::int64_t largest_side, int n_ranks,
                                    std::int64_t n_components, const ExchangeOptions& options) {
  if (largest_side <= options.mpi_count_limit) return 1;
  const std::int64_t position_bytes = n_components * std::int64_t{sizeof(std::complex<double>)};
  const std::int64_t block = (options.block_bytes + position_bytes - 1) / position_bytes;
  if (largest_side / block + n_ranks > options.mpi_count_limit) {
    throw UsageError(
        fmt::format("the exchange of {} modes of {} components on one rank passes MPI's counts "
                    "({}) even in blocks of {} bytes; "
                    "use more ranks, fewer maps at a time or larger exchange blocks",
                    largest_side, n_components, options.mpi_count_limit, options.block_bytes));
  }
  return block;
}

}  // namespace

ExchangePlan plan_exchange(const ModeLimits& limits, const FoldRule& fold,
                           const OrderDistribution& orders, const RingDistribution& rings, int rank,
                           std::int64_t n_components, const ExchangeOptions& options) {
  // Every rank decides for all ranks: a block must mean the same on both sides.
  const ExchangeVolume volume = exchange_volume(limits, fold, orders, rings, options.folding);
  ExchangePlan plan;
  plan.block_positions =
      choose_block_positions(volume.largest_side(), orders.n_ranks(), n_components, options);
  const TransposeSchedule traffic(limits, fold, orders, rings, options.folding);
  lay_out_by_order(traffic, rank, plan);
  lay_out_by_ring(traffic, rank, plan);
  return plan;
}

}  // namespace ringweave
