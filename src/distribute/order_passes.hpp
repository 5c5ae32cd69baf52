// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange_plan.hpp"

namespace ringweave {

/// The rings-to-orders exchange cut into passes of some orders each, for an adjoint whose rows by
/// order have no room all at once: every pass receives its rows in one small buffer, which the
/// Legendre stage empties before the next. Plain data, like ExchangePlan.
struct OrderPasses {
  /// Rows of all my orders, as in ExchangePlan::by_order, but every pass begins at position 0.
  ModeLayout by_order;
  struct Pass {
    std::int64_t first_row = 0;  ///< rows [first_row, first_row + n_rows) of by_order
    std::int64_t n_rows = 0;
    /// What moves, as an exchange of its own; its by_ring is as large as the whole one's.
    ExchangePlan exchange;
  };
  std::vector<Pass> passes;
};

/// `n_passes` passes, the same number on every rank, of equal size as far as whole rows allow. The
/// whole exchange must neither fold nor count in blocks: folded rows and padding do not cut. Not
/// collective.
OrderPasses plan_order_passes(const ModeLimits& limits, const OrderDistribution& orders,
                              const RingDistribution& rings, int rank, const ExchangePlan& whole,
                              int n_passes);

}  // namespace ringweave
