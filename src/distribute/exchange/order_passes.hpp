// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange/exchange_plan.hpp"

namespace ringweave {

/// An exchange cut into passes of some orders each, so that only the modes of a pass or two lie by
/// order at a time, in one buffer whose slots the passes use in turn; by ring they lie where the
/// whole exchange puts them. There the modes of my orders on my own rings are from the beginning:
/// they never move, and slots hold what travels. Orders that fold into one another share a pass.
/// Plain data, like ExchangePlan.
struct OrderPasses {
  /// Rows of all my orders, as in ExchangePlan::by_order, in two pieces (ModePieces): the modes by
  /// ring, and behind them the slots. Pass p has slot p % n_slots.
  ModeLayout by_order;
  std::int64_t by_ring_size = 0;    ///< positions of ExchangePlan::by_ring
  std::int64_t slot_positions = 0;  ///< size of a slot, what the largest pass needs
  std::int64_t all_slots() const { return by_order.size() - by_ring_size; }

  struct Pass {
    /// LegendreStage::synthesize_rows and adjoint_rows of these are the pass.
    std::int64_t first_row = 0;
    std::int64_t n_rows = 0;
    // [peer], positions in the slots and in ExchangePlan::by_ring; nothing between a rank and
    // itself.
    std::vector<ExchangePlan::Block> by_order_blocks;
    std::vector<ExchangePlan::Block> by_ring_blocks;
    ExchangePlan::Block own;  ///< what stays on the rank, positions in by_ring
  };
  std::vector<Pass> passes;
  /// Positions a rank sends or receives in the pass in which that is most.
  std::int64_t most_exchanged() const;
};

struct OrderPassOptions {
  Folding folding = Folding::fold;  ///< that of the whole exchange
  int n_passes = 1;                 ///< the same on every rank
  int n_slots = 1;
  /// Orders of a pass that do not fold, but for the last ones, if there are enough of them.
  std::int64_t row_multiple = 1;
};

/// Passes of equal size in all modes, and so in work, as far as whole groups of orders allow;
/// `whole` is this rank's plan made from the same arguments. Not collective.
OrderPasses plan_order_passes(const ModeLimits& limits, const FoldRule& fold,
                              const OrderDistribution& orders, const RingDistribution& rings,
                              int rank, const ExchangePlan& whole, const OrderPassOptions& options);

}  // namespace ringweave
