// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/halo_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the colatitude midway between a ring and its northern neighbour, or the pole at either
/// end.
double edge_above(const RingGrid& grid, std::int64_t ring) {
  if (ring == 0) return 0;
  if (ring == grid.n_rings()) return std::numbers::pi;
  return (grid.ring(RingId{ring - 1}).theta + grid.ring(RingId{ring}).theta) / 2;
}

double width(const RingGrid& grid, const RingRange& band) {
  return edge_above(grid, band.end) - edge_above(grid, band.begin);
}

double narrowest_band(const RingDistribution& rings) {
  double narrowest = std::numbers::pi;
  for (const RingDistribution::OwnedBand& band : rings.bands())
    narrowest = std::min(narrowest, width(*rings.grid(), band.rings));
  return narrowest;
}

}  // namespace

std::vector<std::int64_t> ring_products(const RingGrid& grid, double support,
                                        const RingPayload& payload) {
  expect_payload_of(grid, payload);
  std::vector<std::int64_t> products;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
    const std::int64_t inputs = rings_within(grid, {r, r + 1}, support).size();
    products.push_back(
        checked_product(payload.values(RingId{r}), inputs, "products of a convolution"));
  }
  return products;
}

HaloScaling halo_scaling(const RingDistribution& rings, double support,
                         const RingPayload& payload) {
  const std::vector<std::int64_t> of_ring = ring_products(*rings.grid(), support, payload);
  const auto products = [&](int rank) {
    double sum = 0;
    for (const RingRange& band : rings.bands(rank)) {
      for (std::int64_t r = band.begin; r < band.end; ++r)
        sum += static_cast<double>(of_ring[to_size(r)]);
    }
    return sum;
  };
  HaloScaling result;
  result.n_ranks = rings.n_ranks();
  result.support = support;
  result.narrowest_band = narrowest_band(rings);
  const double n_ranks = result.n_ranks;
  for (int rank = 0; rank < rings.n_ranks(); ++rank) {
    const std::vector<RingRange> runs = halo_rings(rings, rank, support);
    std::int64_t n_halo = 0;
    std::int64_t values = 0;
    for (const RingRange& run : runs) {
      n_halo += run.size();
      values += payload.values(run);
    }
    const std::int64_t n_all = n_halo + rings.n_rings(rank);
    const double share = n_all > 0 ? static_cast<double>(n_halo) / static_cast<double>(n_all) : 0;
    const double mine = products(rank);
    result.largest_peers =
        std::max(result.largest_peers, static_cast<int>(owners_of(rings, runs).size()));
    result.largest_values = std::max(result.largest_values, values);
    result.largest_share = std::max(result.largest_share, share);
    result.largest_products = std::max(result.largest_products, mine);
    result.mean_values += static_cast<double>(values) / n_ranks;
    result.mean_share += share / n_ranks;
    result.mean_products += mine / n_ranks;
  }
  return result;
}

int ranks_at_band_limit(const DistributeRings& distribute, double support, int most_ranks) {
  int enough = 1;
  const std::int64_t n_pairs = distribute(1).grid()->n_pairs();
  int too_many = static_cast<int>(std::min<std::int64_t>(most_ranks, n_pairs)) + 1;
  while (too_many - enough > 1) {
    const int middle = enough + (too_many - enough) / 2;
    const bool holds = narrowest_band(distribute(middle)) >= 2 * support;
    (holds ? enough : too_many) = middle;
  }
  return enough;
}

std::vector<HaloScaling> halo_scaling_to_limit(const DistributeRings& distribute, double support,
                                               const RingPayload& payload, int beyond) {
  const int limit = ranks_at_band_limit(distribute, support);
  const std::int64_t n_pairs = distribute(1).grid()->n_pairs();
  std::vector<int> counts;
  for (int n = 1; n < limit; n *= 2) counts.push_back(n);
  counts.push_back(limit);
  for (int i = 0; i < beyond && 2 * counts.back() <= n_pairs; ++i) {
    counts.push_back(2 * counts.back());
  }
  std::vector<HaloScaling> rows;
  for (const int n : counts) rows.push_back(halo_scaling(distribute(n), support, payload));
  return rows;
}

std::string halo_scaling_table(std::span<const HaloScaling> rows, std::int64_t n_components,
                               std::int64_t bytes_per_value) {
  const double megabytes = static_cast<double>(n_components * bytes_per_value) / 1e6;
  std::string text =
      " ranks  narrowest band     band /  halo, MB of a rank  rings that are halo  peers  balance\n"
      "               degrees    support   largest      mean   largest       mean   most         "
      "\n";
  for (const HaloScaling& row : rows) {
    text += fmt::format(
        "{:6d}  {:14.3f}  {:9.2f}  {:8.3f}  {:8.3f}  {:8.4f}   {:8.4f}  {:5d}  {:7.4f}\n",
        row.n_ranks, row.narrowest_band * 180 / std::numbers::pi, row.narrowest_band / row.support,
        static_cast<double>(row.largest_values) * megabytes, row.mean_values * megabytes,
        row.largest_share, row.mean_share, row.largest_peers, row.balance());
  }
  return text;
}

}  // namespace ringweave::detail::inline app
