// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/ring_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave {
namespace {

/// Work and memory of one ring in arbitrary units. Integers, so that every machine cuts alike. The
/// logarithm weighs little, because the short rings near the poles have the awkward lengths; a mode
/// is touched far apart from its neighbours on the ring and costs about as much as a pixel's
/// transform.
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

/// Cuts a row of items into `n_parts` <= n_items runs, none empty, so that the dearest run is as
/// cheap as can be and the others are near the mean. `total[i]` is the cost of the first i items.
class EvenCuts {
 public:
  EvenCuts(std::vector<std::int64_t> total, std::int64_t n_parts)
      : total_(std::move(total)), n_items_(ssize64(total_) - 1), n_parts_(n_parts) {}

  std::vector<std::int64_t> cuts() const {
    const std::int64_t capacity = least_capacity();
    const std::vector<std::int64_t> earliest = earliest_cuts(capacity);
    std::vector<std::int64_t> result{0};
    for (std::int64_t part = 1; part < n_parts_; ++part) {
      const std::int64_t previous = result.back();
      const std::int64_t low = std::max(earliest[to_size(part)], previous + 1);
      const std::int64_t high = std::min(reach(previous, capacity), n_items_ - (n_parts_ - part));
      result.push_back(std::clamp(nearest(part), low, high));
    }
    result.push_back(n_items_);
    return result;
  }

 private:
  std::int64_t whole() const { return total_.back(); }

  /// The furthest end of a run that begins at `begin` and costs at most `capacity`.
  std::int64_t reach(std::int64_t begin, std::int64_t capacity) const {
    const auto past =
        std::upper_bound(total_.begin() + begin, total_.end(), total_[to_size(begin)] + capacity);
    return past - total_.begin() - 1;
  }
  bool suffices(std::int64_t capacity) const {
    std::int64_t begin = 0;
    for (std::int64_t part = 0; part < n_parts_ && begin < n_items_; ++part) {
      begin = reach(begin, capacity);
    }
    return begin == n_items_;
  }
  std::int64_t least_capacity() const {
    std::int64_t dearest = 0;
    for (std::int64_t i = 0; i < n_items_; ++i) {
      dearest = std::max(dearest, total_[to_size(i + 1)] - total_[to_size(i)]);
    }
    std::int64_t low = std::max(dearest, whole() / n_parts_);
    std::int64_t high = whole() / n_parts_ + dearest + 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (suffices(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  /// [part] the earliest cut before which `part` runs may end so that the rest still fits.
  std::vector<std::int64_t> earliest_cuts(std::int64_t capacity) const {
    std::vector<std::int64_t> cuts(to_size(n_parts_ + 1), n_items_);
    for (std::int64_t part = n_parts_ - 1; part >= 0; --part) {
      const std::int64_t end = total_[to_size(cuts[to_size(part + 1)])];
      cuts[to_size(part)] =
          std::lower_bound(total_.begin(), total_.end(), end - capacity) - total_.begin();
    }
    return cuts;
  }
  /// The cut nearest to the mean cost of `part` parts.
  std::int64_t nearest(std::int64_t part) const {
    const std::int64_t ideal = whole() / n_parts_ * part + whole() % n_parts_ * part / n_parts_;
    const std::int64_t above =
        std::lower_bound(total_.begin(), total_.end(), ideal) - total_.begin();
    const bool below_is_nearer =
        above > 0 && ideal - total_[to_size(above - 1)] < total_[to_size(above)] - ideal;
    return below_is_nearer ? above - 1 : above;
  }

  std::vector<std::int64_t> total_;
  std::int64_t n_items_;
  std::int64_t n_parts_;
};

void append(RingRange& range, std::int64_t ring) {
  if (ring == RingPair::none) return;
  if (range.empty()) {
    range = {ring, ring + 1};
  } else {
    range = {std::min(range.begin, ring), std::max(range.end, ring + 1)};
  }
}

}  // namespace

RingDistribution::RingDistribution(std::shared_ptr<const RingGrid> grid, const ModeLimits& limits,
                                   int n_ranks)
    : RingDistribution(grid, costs_of(*grid, limits), n_ranks) {}

RingDistribution::RingDistribution(std::shared_ptr<const RingGrid> grid,
                                   std::span<const std::int64_t> costs, int n_ranks)
    : grid_(std::move(grid)), north_(to_size(n_ranks)), south_(to_size(n_ranks)) {
  require_costs(*grid_, costs);
  const std::int64_t n_pairs = grid_->n_pairs();
  const auto cost = [&](std::int64_t ring) {
    return ring == RingPair::none ? 0 : costs[to_size(ring)];
  };
  std::vector<std::int64_t> total{0};
  for (const RingPair& pair : grid_->pairs()) {
    total.push_back(total.back() + cost(pair.north) + cost(pair.south));
  }
  pair_cuts_ = EvenCuts(std::move(total), std::min<std::int64_t>(n_ranks, n_pairs)).cuts();
  pair_cuts_.resize(to_size(std::int64_t{n_ranks} + 1), n_pairs);

  owner_.resize(to_size(grid_->n_rings()));
  for (int rank = 0; rank < n_ranks; ++rank) {
    for (std::int64_t p = pair_cuts_[to_size(rank)]; p < pair_cuts_[to_size(rank + 1)]; ++p) {
      const RingPair& pair = grid_->pairs()[to_size(p)];
      append(north_[to_size(rank)], pair.north);
      append(south_[to_size(rank)], pair.south);
      if (pair.north != RingPair::none) owner_[to_size(pair.north)] = rank;
      if (pair.south != RingPair::none) owner_[to_size(pair.south)] = rank;
    }
  }
}

}  // namespace ringweave
