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

/// What one rank sends to and receives from every other in the one Alltoallv of a transform, as
/// plain data computed without MPI. Offsets and counts are in positions of the mode layouts (one
/// position: all components of one mode). Synthesis sends by_order -> by_ring; the adjoint sends
/// the same blocks backwards.
struct ExchangePlan {
  /// Rows of this rank's orders, all rings that keep them; positions grouped by the rings' owner.
  ModeLayout by_order;
  /// Rows of all orders, this rank's rings; positions grouped by the order's owner. Both layouts
  /// name the rows that are folded; a folded row has no segment on `fold_rings` on either side.
  ModeLayout by_ring;

  struct Block {
    std::int64_t first = 0;  ///< position in the layout, a multiple of `block_positions`
    std::int64_t count = 0;  ///< positions in use; 0: nothing to or from this peer
  };
  // [peer]; the entry of the rank itself is what it owes itself.
  std::vector<Block> by_order_blocks;
  std::vector<Block> by_ring_blocks;

  /// Blocks start at multiples of this, so that MPI may count in such units.
  std::int64_t block_positions = 1;
};

/// `whole`: the exchange runs between the stages, as one MPI_Alltoallv; where memory is too short
/// for that, in passes of some orders each (OrderPasses) between the stage's. `overlapped`: in
/// passes, one travelling while the Legendre stage works on the next; results are the same bit by
/// bit.
enum class ExchangeSchedule { whole, overlapped };

/// How ring modes travel. `single_`: as complex<float>, in passes; half the bytes. Every mode is
/// rounded, those that stay on their rank too, so that results do not depend on the number of
/// ranks; maps and a_lm then have relative rms errors of about 3e-8, below 1e-6 in any case. Modes
/// above 3e38 are refused (DataError), a field with all modes below 1e-37 loses its digits.
enum class ModePrecision { double_, single_ };
/// Of a mode of one component on its way.
constexpr std::int64_t complex_bytes(ModePrecision precision) {
  return precision == ModePrecision::single_ ? 8 : 16;
}

struct ExchangeOptions {
  Folding folding = Folding::fold;
  ExchangeSchedule schedule = ExchangeSchedule::whole;
  ModePrecision precision = ModePrecision::double_;
  /// Largest count or displacement handed to MPI; beyond it Exchange counts in blocks of
  /// `block_bytes`, and ModeExchange copies what it sends. Tests make it small.
  std::int64_t mpi_count_limit = std::numeric_limits<int>::max();
  std::int64_t block_bytes = 4096;
};

/// The plan of one rank; the plans of all ranks fit each other when made from equal arguments.
/// Memory and time O(mmax + n_rings + n_ranks + segments): at most one segment per order and band
/// of a peer in by_order, and of this rank in by_ring, two where the order folds within it. Not
/// collective. Error  UsageError when blocks of `block_bytes` still pass `mpi_count_limit`.
ExchangePlan plan_exchange(const ModeLimits& limits, const FoldRule& fold,
                           const OrderDistribution& orders, const RingDistribution& rings, int rank,
                           std::int64_t n_components, const ExchangeOptions& options = {});

}  // namespace ringweave
