// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange/exchange_plan.hpp"

namespace ringweave {

/// Some rows of ExchangePlan::by_order whose modes may be copied away while those of the next part
/// are made. Orders that fold into one another share a part.
struct RowPart {
  /// LegendreStage::synthesize_rows and adjoint_rows of these are the part.
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  /// [peer], positions in ExchangePlan::by_order: one run within the block of each peer.
  std::vector<ExchangePlan::Block> blocks;
};

/// Parts of about equal size, `n_parts` at most, none without rows; together they are all rows.
/// `whole` is this rank's plan made from the same arguments. Not collective.
std::vector<RowPart> plan_row_parts(const ModeLimits& limits, const FoldRule& fold,
                                    const OrderDistribution& orders, const RingDistribution& rings,
                                    int rank, const ExchangePlan& whole, Folding folding,
                                    int n_parts);

}  // namespace ringweave
