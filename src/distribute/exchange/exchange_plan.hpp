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

/// The ring side of the exchange of a rank, as plain data computed without MPI. Offsets and counts
/// are in positions of the mode layout (one position: all components of one mode). OrderPasses is
/// the order side.
struct ExchangePlan {
  /// Rows of all orders, this rank's rings; positions grouped by the order's owner. Names the rows
  /// that are folded; a folded row has no segment on `fold_rings`.
  ModeLayout by_ring;

  struct Block {
    std::int64_t first = 0;  ///< position
    std::int64_t count = 0;  ///< 0: nothing to or from this peer
  };
  std::vector<Block> by_ring_blocks;  ///< [owner of the orders]
};

/// When modes are exchanged. `whole`: between the stages, as one MPI_Alltoallv; where memory is too
/// short for that, in passes of some orders each (OrderPasses). `overlapped`: in passes, one of
/// which is exchanged while the Legendre stage works on the next; results are the same bit by bit.
enum class ExchangeSchedule { whole, overlapped };

/// Precision of the modes that are exchanged. `single_`: complex<float>, in passes; half the bytes.
/// Every mode is rounded, those that stay on their rank too, so that results do not depend on the
/// number of ranks; maps and a_lm then have relative rms errors of about 3e-8, below 1e-6 in any
/// case. Modes above 3e38 are refused (DataError), a field with all modes below 1e-37 loses its
/// digits.
enum class ModePrecision { double_, single_ };
/// Bytes of an exchanged mode of one component.
constexpr std::int64_t complex_bytes(ModePrecision precision) {
  return precision == ModePrecision::single_ ? 8 : 16;
}

struct ExchangeOptions {
  Folding folding = Folding::fold;
  ExchangeSchedule schedule = ExchangeSchedule::whole;
  ModePrecision precision = ModePrecision::double_;
  /// Largest count or displacement handed to MPI; where there are more modes, they are packed and
  /// go in passes. Tests make it small.
  std::int64_t mpi_count_limit = std::numeric_limits<int>::max();
};

/// Plans one rank; the plans of all ranks fit each other when made from equal arguments. Memory and
/// time O(mmax + n_rings + n_ranks + segments), at most one segment per order and band of this
/// rank, two where the order folds within it. Not collective.
ExchangePlan plan_exchange(const ModeLimits& limits, const FoldRule& fold,
                           const OrderDistribution& orders, const RingDistribution& rings, int rank,
                           Folding folding = Folding::fold);

}  // namespace ringweave
