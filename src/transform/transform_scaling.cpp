// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_scaling.hpp"

#include <algorithm>
#include <complex>

#include "base/checked_cast.hpp"
#include "distribute/exchange/exchange_volume.hpp"
#include "distribute/exchange/transpose_schedule.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/significant_degrees.hpp"

namespace ringweave::detail::inline transform {
namespace {

constexpr std::int64_t bytes_of_mode = sizeof(std::complex<double>);
constexpr std::int64_t bytes_of_pixel = sizeof(double);

}  // namespace

/// The distribution over a number of ranks and its exchange volume.
struct TransformScaling::Deal {
  Deal(const TransformScaling& scaling, int n_ranks)
      : orders(scaling.scalar_limits_, scaling.fold_, n_ranks),
        rings(scaling.spec_.grid, scaling.scalar_limits_, n_ranks),
        volume(exchange_volume(scaling.limits_, scaling.fold_, orders, rings,
                               scaling.spec_.exchange.folding)) {}

  OrderDistribution orders;
  RingDistribution rings;
  ExchangeVolume volume;
};

TransformScaling::TransformScaling(const TransformSpec& asked)
    : spec_(asked.checked()),
      limits_(limits_of(spec_, spec_.fields.max_spin())),
      scalar_limits_(limits_of(spec_, 0)),
      fold_(FoldRule::for_grid(*spec_.grid, spec_.mmax)),
      legendre_work_(legendre_work(spec_, limits_)) {
  degrees_.resize(to_size(std::int64_t{spec_.mmax} + 1));
  const SignificantDegrees significant(*spec_.grid, limits_);
  for (int m = 0; m <= spec_.mmax; ++m) degrees_[to_size(std::int64_t{m})] = significant.of(m);
}

void TransformScaling::add_sizes(const Deal& deal, TransformShares& shares) const {
  const int n_ranks = deal.orders.n_ranks();
  const std::int64_t n_components = spec_.fields.n_components();
  TransformWork& largest = shares.largest;
  double most_degrees = 0;
  double all_degrees = 0;
  std::int64_t all_bytes = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    double degrees = 0;
    std::int64_t n_alm = 0;
    for (const int m : deal.orders.orders(rank)) {
      degrees += degrees_[to_size(std::int64_t{m})];
      n_alm += spec_.lmax + 1 - m;
    }
    std::int64_t n_pixels = 0;
    for (const RingRange& band : deal.rings.bands(rank))
      for (std::int64_t ring = band.begin; ring < band.end; ++ring)
        n_pixels += spec_.grid->ring(RingId{ring}).n_phi;
    const std::size_t r = to_size(std::int64_t{rank});
    const std::int64_t by_ring = deal.volume.by_ring[r] * bytes_of_mode;
    const std::int64_t travelling = deal.volume.sent(rank) * bytes_of_mode;
    const std::int64_t map = n_pixels * bytes_of_pixel;
    const std::int64_t alm = n_alm * bytes_of_mode;
    // Exchanged modes by order use the map's memory if they fit.
    const std::int64_t beside_map = travelling > map ? travelling : 0;
    const std::int64_t bytes = n_components * (alm + map + beside_map + by_ring);
    const std::int64_t other_rings = spec_.grid->n_rings() - deal.rings.n_rings(rank);
    most_degrees = std::max(most_degrees, degrees);
    all_degrees += degrees;
    all_bytes += bytes;
    shares.n_ranks_with_orders += deal.orders.orders(rank).empty() ? 0 : 1;
    shares.n_ranks_with_rings += deal.rings.bands(rank).empty() ? 0 : 1;
    largest.fft_pixel_bytes = std::max(largest.fft_pixel_bytes, n_components * map);
    largest.fft_mode_bytes = std::max(largest.fft_mode_bytes, n_components * by_ring);
    largest.alm_bytes = std::max(largest.alm_bytes, n_components * alm);
    shares.largest_bytes = std::max(shares.largest_bytes, bytes);
    shares.dense_sent_bytes =
        std::max(shares.dense_sent_bytes,
                 ssize64(deal.orders.orders(rank)) * other_rings * n_components * bytes_of_mode);
  }
  const LegendreFlops most = flops_of(spec_.fields, most_degrees);
  largest.scalar_flops = most.scalar;
  largest.spin_flops = most.spin;
  shares.mean_flops = flops_of(spec_.fields, all_degrees / n_ranks).total();
  shares.mean_bytes = static_cast<double>(all_bytes) / n_ranks;
}

MessageSizes TransformScaling::messages_of(const Deal& deal, int rank) const {
  const TransposeSchedule schedule(limits_, fold_, deal.orders, deal.rings, spec_.exchange.folding);
  const std::int64_t bytes_of_modes = spec_.fields.n_components() * bytes_of_mode;
  MessageSizes sizes;
  std::int64_t all = 0;
  for (int peer = 0; peer < schedule.n_ranks(); ++peer) {
    std::int64_t bytes = 0;
    for (const int m : schedule.orders(rank)) bytes += schedule.modes(m, peer) * bytes_of_modes;
    if (peer == rank || bytes == 0) continue;
    ++sizes.count;
    sizes.largest_bytes = std::max(sizes.largest_bytes, bytes);
    all += bytes;
  }
  if (sizes.count > 0)
    sizes.mean_bytes = static_cast<double>(all) / static_cast<double>(sizes.count);
  return sizes;
}

TransformShares TransformScaling::shares(int n_ranks) const {
  const Deal deal(*this, n_ranks);
  const std::int64_t component_bytes = spec_.fields.n_components() * bytes_of_mode;
  const bool in_single = n_ranks > 1 && spec_.exchange.precision == ModePrecision::single_;

  TransformShares shares;
  add_sizes(deal, shares);
  TransformWork& largest = shares.largest;
  largest.lmax = spec_.lmax;
  largest.longest_ring = spec_.grid->longest_ring();
  largest.legendre_work = legendre_work_;
  largest.n_ranks = n_ranks;
  set_fine_rows(spec_, (spec_.mmax + std::int64_t{n_ranks}) / n_ranks, largest);

  int busiest = 0;
  for (int rank = 1; rank < n_ranks; ++rank)
    if (deal.volume.sent(rank) > deal.volume.sent(busiest)) busiest = rank;
  const std::int64_t of_mode = component_bytes / (in_single ? 2 : 1);
  largest.sent_bytes = deal.volume.sent(busiest) * of_mode;
  shares.messages = messages_of(deal, busiest);
  if (in_single) {
    shares.messages.largest_bytes /= 2;
    shares.messages.mean_bytes /= 2;
  }
  shares.ragged_sent_bytes =
      component_bytes *
      exchange_volume(limits_, fold_, deal.orders, deal.rings, Folding::keep).most_sent();
  shares.dense = {static_cast<double>(spec_.grid->n_rings()), spec_.mmax + 1.0,
                  static_cast<double>(component_bytes), n_ranks};
  return shares;
}

}  // namespace ringweave::detail::inline transform
