// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "distribute/exchange/exchange_volume.hpp"
#include "distribute/exchange/order_distribution.hpp"
#include "distribute/ring_distribution.hpp"
#include "sphere/mode_layout.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave {

/// The ring side of a rank's exchange, as plain data computed without MPI; OrderPasses is the order
/// side. Offsets and counts are in positions of the mode layout (one position: all components of
/// one mode).
struct ExchangePlan {
  /// Rows of all orders on this rank's rings; positions grouped by the owner of the order. Lists
  /// the rows that are folded; a folded row has no segment on `fold_rings`.
  ModeLayout by_ring;

  struct Block {
    std::int64_t first = 0;  ///< position
    std::int64_t count = 0;  ///< 0: nothing to or from this peer
  };
  std::vector<Block> by_ring_blocks;  ///< [owner of the orders]
};

/// When modes are exchanged. `whole`: between the stages, in one MPI_Alltoallv, or, where memory
/// does not suffice for that, in passes of some orders each (OrderPasses). `overlapped`: in passes,
/// each exchanged while the Legendre stage computes the next; results are the same bit by bit.
enum class ExchangeSchedule { whole, overlapped };

/// Precision of the exchanged modes. `single_`: complex<float>, in passes; half the bytes. Every
/// mode is rounded, including those that stay on their rank, so results do not depend on the number
/// of ranks. Maps and a_lm then have relative rms errors of about 3e-8, and below 1e-6 in any case.
/// Modes above 3e38 are refused (DataError); a field with all modes below 1e-37 loses digits.
enum class ModePrecision { double_, single_ };
/// Bytes of an exchanged mode of one component.
constexpr std::int64_t complex_bytes(ModePrecision precision) {
  return precision == ModePrecision::single_ ? 8 : 16;
}

struct ExchangeOptions {
  Folding folding = Folding::fold;
  ExchangeSchedule schedule = ExchangeSchedule::whole;
  ModePrecision precision = ModePrecision::double_;
  /// Largest count or displacement passed to MPI. Beyond it, modes are packed and exchanged in
  /// passes. Tests make it small.
  std::int64_t mpi_count_limit = std::numeric_limits<int>::max();
};

/// Plans one rank. Plans of all ranks match when made from equal arguments. Memory and time O(mmax
/// + n_rings + n_ranks + segments), at most one segment per order and band of this rank, two where
/// the order folds within it. Not collective.
ExchangePlan plan_exchange(const ModeLimits& limits, const FoldRule& fold,
                           const OrderDistribution& orders, const RingDistribution& rings, int rank,
                           Folding folding = Folding::fold);

}  // namespace ringweave
