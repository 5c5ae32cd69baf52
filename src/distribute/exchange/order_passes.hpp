// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange/exchange_plan.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

/// The order side of an exchange, in passes of some orders each. Only the modes of one or two
/// passes are stored by order at a time, in a buffer whose slots the passes use in turn. Modes
/// whose order and ring are both local are written in place, by ring as in ExchangePlan; slots hold
/// only modes of other ranks' rings. Orders that fold into one another share a pass. Plain data,
/// like ExchangePlan.
struct OrderPasses {
  /// Rows of this rank's orders, on all rings that keep them. Positions count the modes by ring
  /// and, behind them, the slots (ModePieces). Pass p uses slot p % n_slots.
  ModeLayout by_order;
  std::int64_t by_ring_size = 0;    ///< positions of ExchangePlan::by_ring
  std::int64_t slot_positions = 0;  ///< size of a slot: the need of the largest pass
  std::int64_t all_slots() const { return by_order.size() - by_ring_size; }

  /// Rows computed and packed together, while those of another part are copied.
  struct Part {
    RowRange rows;                           ///< of one call of a Legendre stage
    std::vector<ExchangePlan::Block> slots;  ///< [peer], positions within the peer's block
  };
  struct Pass {
    std::vector<Part> parts;  ///< empty without orders
    // [peer], positions in the slots and in ExchangePlan::by_ring; empty for the rank itself.
    std::vector<ExchangePlan::Block> by_order_blocks;
    std::vector<ExchangePlan::Block> by_ring_blocks;
    ExchangePlan::Block own;  ///< modes that stay on the rank, positions in by_ring
  };
  std::vector<Pass> passes;
};

struct OrderPassOptions {
  Folding folding = Folding::fold;  ///< that of the whole exchange
  int n_passes = 1;                 ///< the same on every rank
  int n_slots = 1;
  int n_parts = 1;  ///< of a pass, at most
  /// The number of orders of a pass or part that do not fold is a multiple of this, except in the
  /// last ones, if there are enough orders.
  std::int64_t row_multiple = 1;
};

/// Plans passes of equal size in modes of all ranks, and thus in work, as far as whole groups of
/// orders allow. `whole` is this rank's plan made from the same arguments. Not collective.
OrderPasses plan_order_passes(const ModeLimits& limits, const FoldRule& fold,
                              const OrderDistribution& orders, const RingDistribution& rings,
                              int rank, const ExchangePlan& whole, const OrderPassOptions& options);

}  // namespace ringweave::detail::inline distribute
