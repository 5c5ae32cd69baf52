// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange/exchange_plan.hpp"

namespace ringweave {

/// The order side of an exchange, in passes of some orders each, so that only the modes of a pass
/// or two are stored by order at a time, in a buffer whose slots the passes use in turn. Modes
/// whose order and ring are both this rank's are written where ExchangePlan has them by ring; slots
/// hold only modes of other ranks' rings. Orders that fold into one another share a pass. Plain
/// data, like ExchangePlan.
struct OrderPasses {
  /// Rows of this rank's orders, all rings that keep them. Positions are those of the modes by ring
  /// and, behind them, of the slots (ModePieces). Pass p has slot p % n_slots.
  ModeLayout by_order;
  std::int64_t by_ring_size = 0;    ///< positions of ExchangePlan::by_ring
  std::int64_t slot_positions = 0;  ///< size of a slot, what the largest pass needs
  std::int64_t all_slots() const { return by_order.size() - by_ring_size; }

  /// Rows that are computed and packed together, while those of another part are copied.
  struct Part {
    RowRange rows;                           ///< what a Legendre stage takes at a time
    std::vector<ExchangePlan::Block> slots;  ///< [peer], positions within the peer's block
  };
  struct Pass {
    std::vector<Part> parts;  ///< none without orders
    // [peer], positions in the slots and in ExchangePlan::by_ring; nothing between a rank and
    // itself.
    std::vector<ExchangePlan::Block> by_order_blocks;
    std::vector<ExchangePlan::Block> by_ring_blocks;
    ExchangePlan::Block own;  ///< what stays on the rank, positions in by_ring
  };
  std::vector<Pass> passes;
};

struct OrderPassOptions {
  Folding folding = Folding::fold;  ///< that of the whole exchange
  int n_passes = 1;                 ///< the same on every rank
  int n_slots = 1;
  int n_parts = 1;  ///< at most, of a pass
  /// Orders of a pass or part that do not fold, but for the last ones, if there are enough of them.
  std::int64_t row_multiple = 1;
};

/// Plans passes of equal size in all modes, and so in work, as far as whole groups of orders allow.
/// `whole` is this rank's plan made from the same arguments. Not collective.
OrderPasses plan_order_passes(const ModeLimits& limits, const FoldRule& fold,
                              const OrderDistribution& orders, const RingDistribution& rings,
                              int rank, const ExchangePlan& whole, const OrderPassOptions& options);

}  // namespace ringweave
