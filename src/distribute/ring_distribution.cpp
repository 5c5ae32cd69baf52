// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/ring_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/balanced_partition.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Cost of the work and memory of one ring in arbitrary units. Integers, so that every machine cuts
/// alike. The logarithm has a small weight, because the short rings near the poles have the awkward
/// lengths. A mode is stored far from its neighbours on the ring and costs about as much as a
/// pixel's transform.
std::int64_t cost_of(const RingGrid& grid, const ModeLimits& limits, std::int64_t ring) {
  constexpr std::int64_t per_pixel = 24;
  constexpr std::int64_t per_mode = 32;
  const std::int64_t n = grid.ring(RingId{ring}).n_phi;
  const auto depth = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n)));
  return n * (per_pixel + depth) + per_mode * (std::int64_t{limits.m_limit(RingId{ring})} + 1);
}

std::vector<std::int64_t> costs_of(const RingGrid& grid, const ModeLimits& limits) {
  std::vector<std::int64_t> costs;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) costs.push_back(cost_of(grid, limits, r));
  return costs;
}

void require_costs(const RingGrid& grid, std::span<const std::int64_t> costs) {
  if (ssize64(costs) != grid.n_rings()) {
    throw UsageError(fmt::format("a distribution of {} rings is given costs of {}", grid.n_rings(),
                                 costs.size()));
  }
  constexpr std::int64_t most = std::int64_t{1} << 61;
  std::int64_t total = 0;
  for (const std::int64_t cost : costs) {
    if (cost >= 0 && cost <= most - total) {
      total += cost;
      continue;
    }
    throw UsageError(fmt::format(
        "a distribution of rings is given a cost of {}; expected 0 or more, at most 2^61 in all",
        cost));
  }
}

/// Returns where the sections of a transform's ring pairs begin, and the number of pairs at the
/// end.
std::vector<std::int64_t> sections_of(const RingGrid& grid) {
  const auto length = [&](const RingPair& pair) {
    return grid.ring(RingId{pair.north != RingPair::none ? pair.north : pair.south}).n_phi;
  };
  const auto pairs = grid.pairs();
  std::int64_t belt = ssize64(pairs) - 1;
  while (belt > 0 && length(pairs[to_size(belt - 1)]) == length(pairs.back())) --belt;
  const bool is_one_kind = belt == 0 || belt == ssize64(pairs) - 1;
  if (is_one_kind) return {0, ssize64(pairs)};
  return {0, belt, ssize64(pairs)};
}

}  // namespace

RingDistribution::RingDistribution(std::shared_ptr<const RingGrid> grid, const ModeLimits& limits,
                                   int n_ranks)
    : grid_(std::move(grid)) {
  deal(costs_of(*grid_, limits), sections_of(*grid_), n_ranks);
}

RingDistribution::RingDistribution(std::shared_ptr<const RingGrid> grid,
                                   std::span<const std::int64_t> costs, int n_ranks)
    : grid_(std::move(grid)) {
  require_costs(*grid_, costs);
  deal(costs, std::array{std::int64_t{0}, grid_->n_pairs()}, n_ranks);
}

RingDistribution::RingDistribution(const RingDistribution& few, int first_rank, int n_ranks)
    : grid_(few.grid_), owner_(few.owner_) {
  const int n_owners = *std::max_element(owner_.begin(), owner_.end()) + 1;
  if (first_rank < 0 || first_rank > n_ranks - n_owners) {
    throw UsageError(fmt::format("rings of {} ranks go to those from {} on of {}; there are fewer",
                                 n_owners, first_rank, n_ranks));
  }
  for (int& owner : owner_) owner += first_rank;
  collect_bands(n_ranks);
}

void RingDistribution::deal(std::span<const std::int64_t> costs,
                            std::span<const std::int64_t> section_cuts, int n_ranks) {
  const auto cost = [&](std::int64_t ring) {
    return ring == RingPair::none ? 0 : costs[to_size(ring)];
  };
  owner_.resize(to_size(grid_->n_rings()));
  // Ranks in the order in which they take bands, and their cost so far.
  std::vector<int> ranks(to_size(n_ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<std::int64_t> held(to_size(n_ranks), 0);
  for (std::size_t s = 0; s + 1 < section_cuts.size(); ++s) {
    const std::span<const RingPair> pairs = grid_->pairs().subspan(
        to_size(section_cuts[s]), to_size(section_cuts[s + 1] - section_cuts[s]));
    std::vector<std::int64_t> total{0};
    for (const RingPair& pair : pairs) {
      total.push_back(total.back() + cost(pair.north) + cost(pair.south));
    }
    const std::vector<std::int64_t> cuts = balanced_partition(total, held);
    for (std::size_t part = 0; part < ranks.size(); ++part) {
      for (std::int64_t p = cuts[part]; p < cuts[part + 1]; ++p) {
        const RingPair& pair = pairs[to_size(p)];
        if (pair.north != RingPair::none) owner_[to_size(pair.north)] = ranks[part];
        if (pair.south != RingPair::none) owner_[to_size(pair.south)] = ranks[part];
      }
      held[part] += total[to_size(cuts[part + 1])] - total[to_size(cuts[part])];
    }
    std::reverse(ranks.begin(), ranks.end());
    std::reverse(held.begin(), held.end());
  }
  collect_bands(n_ranks);
}

void RingDistribution::collect_bands(int n_ranks) {
  rank_begin_.assign(to_size(std::int64_t{n_ranks} + 1), 0);
  for (std::int64_t r = 0; r < grid_->n_rings(); ++r) {
    const int rank = owner(RingId{r});
    if (bands_.empty() || bands_.back().rank != rank) {
      bands_.push_back({{r, r}, rank});
      ++rank_begin_[to_size(rank) + 1];
    }
    bands_.back().rings.end = r + 1;
  }
  std::partial_sum(rank_begin_.begin(), rank_begin_.end(), rank_begin_.begin());
  of_ranks_.resize(bands_.size());
  std::vector<std::size_t> next(rank_begin_.begin(), rank_begin_.end() - 1);
  for (const OwnedBand& band : bands_) of_ranks_[next[to_size(band.rank)]++] = band.rings;
}

}  // namespace ringweave::detail::inline distribute
