// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Ranges = std::vector<RingRange>;  ///< ascending, not empty, not adjacent

/// Returns the largest distance of a ring. Colatitudes are rounded themselves; a bound on the chord
/// 2 sin(angle / 2) with a relative error e is one on the angle with an error e tan(angle / 2).
double reach_of(double support) {
  if (!(support >= 0)) {
    throw UsageError(fmt::format("the kernel's support is {} radians, expected 0 to pi", support));
  }
  constexpr double rounding = 1e-12;
  if (support >= std::numbers::pi) return 2 * std::numbers::pi;
  return support + rounding * (1 + std::tan(support / 2));
}

/// Returns the rings within the support of any of a rank's rings.
Ranges reached(const RingDistribution& rings, int rank, double support) {
  Ranges result;
  for (const RingRange& band : rings.bands(rank)) {
    const RingRange within = rings_within(*rings.grid(), band, support);
    if (result.empty() || result.back().end < within.begin) {
      result.push_back(within);
    } else {
      result.back().end = std::max(result.back().end, within.end);
    }
  }
  return result;
}

Ranges common(std::span<const RingRange> some, std::span<const RingRange> others) {
  Ranges result;
  for (const RingRange& a : some) {
    for (const RingRange& b : others) {
      const RingRange both = intersection(a, b);
      if (!both.empty()) result.push_back(both);
    }
  }
  return result;
}

Ranges without(std::span<const RingRange> some, std::span<const RingRange> others) {
  Ranges result;
  for (RingRange rest : some) {
    for (const RingRange& other : others) {
      if (intersection(rest, other).empty()) continue;
      if (rest.begin < other.begin) result.push_back({rest.begin, other.begin});
      rest.begin = other.end;
    }
    if (!rest.empty()) result.push_back(rest);
  }
  return result;
}

/// Returns the number of values before `ring` when the rings of `ranges` are stored contiguously.
std::int64_t values_before(std::span<const RingRange> ranges, const RingPayload& payload,
                           std::int64_t ring) {
  std::int64_t values = 0;
  for (const RingRange& range : ranges) {
    values += payload.values(intersection(range, {range.begin, ring}));
  }
  return values;
}

std::int64_t bytes_of(std::int64_t values, std::int64_t n_components,
                      std::int64_t bytes_per_value) {
  return checked_product(checked_product(values, n_components, "values of a halo"), bytes_per_value,
                         "bytes of a halo");
}

}  // namespace

RingRange rings_within(const RingGrid& grid, RingRange band, double support) {
  const double reach = reach_of(support);
  if (band.empty()) return {};
  const auto all = grid.rings();
  const double first = all[to_size(band.begin)].theta;
  const double last = all[to_size(band.end - 1)].theta;
  // Compares differences, and not theta + reach, so that both rings of a pair get the same verdict.
  const auto begin =
      std::partition_point(all.begin(), all.begin() + band.begin,
                           [&](const Ring& ring) { return first - ring.theta > reach; });
  const auto end = std::partition_point(all.begin() + band.end, all.end(), [&](const Ring& ring) {
    return ring.theta - last <= reach;
  });
  return {begin - all.begin(), end - all.begin()};
}

RingPayload::RingPayload(std::span<const std::int64_t> values) : before_{0} {
  before_.reserve(values.size() + 1);
  for (const std::int64_t n : values) {
    if (n < 0) {
      throw UsageError(
          fmt::format("ring {} carries {} values, expected 0 or more", ssize64(before_) - 1, n));
    }
    std::int64_t total = 0;
    if (__builtin_add_overflow(before_.back(), n, &total)) {
      throw UsageError("the values of all rings pass 64 bits");
    }
    before_.push_back(total);
  }
}

RingPayload RingPayload::pixels(const RingGrid& grid) {
  std::vector<std::int64_t> values;
  for (const Ring& ring : grid.rings()) values.push_back(ring.n_phi);
  return RingPayload(values);
}

RingPayload RingPayload::modes(const RingGrid& grid) {
  std::vector<std::int64_t> values;
  for (const Ring& ring : grid.rings()) values.push_back(ring.n_phi / 2 + 1);
  return RingPayload(values);
}

std::int64_t HaloPlan::halo_bytes(std::int64_t n_components, std::int64_t bytes_per_value) const {
  return bytes_of(halo_size, n_components, bytes_per_value);
}

std::int64_t HaloPlan::sent_bytes(std::int64_t n_components, std::int64_t bytes_per_value) const {
  std::int64_t values = 0;
  for (const Message& message : sends) values += message.count;
  return bytes_of(values, n_components, bytes_per_value);
}

std::vector<RingRange> halo_rings(const RingDistribution& rings, int rank, double support) {
  reach_of(support);  // validates `support`, also where the rank owns no ring
  return without(reached(rings, rank, support), rings.bands(rank));
}

std::vector<int> owners_of(const RingDistribution& rings, std::span<const RingRange> runs) {
  std::vector<int> owners;
  const auto bands = rings.bands();
  for (const RingRange& run : runs) {
    auto band = std::partition_point(bands.begin(), bands.end(),
                                     [&](const auto& some) { return some.rings.end <= run.begin; });
    for (; band != bands.end() && band->rings.begin < run.end; ++band) owners.push_back(band->rank);
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  return owners;
}

void expect_payload_of(const RingGrid& grid, const RingPayload& payload) {
  if (payload.n_rings() == grid.n_rings()) return;
  throw UsageError(fmt::format("the payload of a halo is for {} rings, the grid has {}",
                               payload.n_rings(), grid.n_rings()));
}

HaloPlan plan_halo(const RingDistribution& rings, int rank, double support,
                   const RingPayload& payload) {
  expect_payload_of(*rings.grid(), payload);
  const auto own = rings.bands(rank);
  const Ranges needed = halo_rings(rings, rank, support);
  HaloPlan plan;
  plan.rank = rank;
  plan.n_ranks = rings.n_ranks();
  plan.n_own_rings = rings.n_rings(rank);
  for (const RingRange& band : own) plan.own_size += payload.values(band);
  plan.offsets.push_back(0);
  for (const RingRange& run : needed) {
    plan.runs.push_back({run, plan.n_halo_rings()});
    for (std::int64_t r = run.begin; r < run.end; ++r) {
      plan.offsets.push_back(plan.offsets.back() + payload.values(RingId{r}));
    }
  }
  plan.halo_size = plan.offsets.back();

  // Symmetric: a rank within my reach has me within its reach.
  for (const int peer : owners_of(rings, needed)) {
    for (const RingRange& part : common(needed, rings.bands(peer))) {
      plan.receives.push_back(
          {peer, part, values_before(needed, payload, part.begin), payload.values(part)});
    }
    for (const RingRange& part : common(halo_rings(rings, peer, support), own)) {
      plan.sends.push_back(
          {peer, part, values_before(own, payload, part.begin), payload.values(part)});
    }
  }
  return plan;
}

}  // namespace ringweave::detail::inline distribute
