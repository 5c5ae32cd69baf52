// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/ring_transfer_plan.hpp"

#include <fmt/format.h>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

std::int64_t pixels_of(const RingGrid& grid, const RingRange& rings) {
  std::int64_t n = 0;
  for (std::int64_t r = rings.begin; r < rings.end; ++r) n += grid.ring(RingId{r}).n_phi;
  return n;
}

/// Splits a rank's rings by their owner in the other distribution.
std::vector<RingTransferPlan::Message> messages(const RingDistribution& own, int rank,
                                                const RingDistribution& of_peers) {
  std::vector<RingTransferPlan::Message> result;
  std::int64_t first = 0;
  for (const RingRange& band : own.bands(rank)) {
    for (const RingDistribution::OwnedBand& other : of_peers.bands()) {
      const RingRange common = intersection(band, other.rings);
      if (common.empty()) continue;
      const std::int64_t count = pixels_of(*own.grid(), common);
      result.push_back({other.rank, common, first, count});
      first += count;
    }
  }
  return result;
}

std::int64_t total(const std::vector<RingTransferPlan::Message>& messages) {
  return messages.empty() ? 0 : messages.back().first + messages.back().count;
}

}  // namespace

RingTransferPlan plan_ring_transfer(const RingDistribution& before, const RingDistribution& after,
                                    int rank) {
  if (before.grid() != after.grid() || before.n_ranks() != after.n_ranks()) {
    throw UsageError(
        fmt::format("rings go from {} ranks to {}, of the same grid or of another; expected one "
                    "grid and as many ranks",
                    before.n_ranks(), after.n_ranks()));
  }
  RingTransferPlan plan;
  plan.rank = rank;
  plan.n_ranks = before.n_ranks();
  plan.sends = messages(before, rank, after);
  plan.receives = messages(after, rank, before);
  plan.size_before = total(plan.sends);
  plan.size_after = total(plan.receives);
  return plan;
}

}  // namespace ringweave::detail::inline distribute
