// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_scaling.hpp"

#include <algorithm>
#include <complex>

#include "base/checked_cast.hpp"
#include "distribute/exchange_volume.hpp"

namespace ringweave {
namespace {

constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
constexpr std::int64_t pixel_bytes = sizeof(double);

}  // namespace

TransformScaling::TransformScaling(const TransformSpec& spec)
    : spec_(spec),
      limits_(*spec.grid, spec.lmax, spec.mmax, spec.fields.max_spin()),
      fold_(FoldRule::for_grid(*spec.grid, spec.mmax)),
      legendre_work_(legendre_work(spec, limits_)) {
  for (int m = 0; m <= spec.mmax; ++m)
    degrees_.push_back(significant_degrees(*spec.grid, limits_, m));
}

TransformShares TransformScaling::shares(int n_ranks) const {
  const OrderDistribution orders(limits_, fold_, n_ranks);
  const RingDistribution rings(spec_.grid, limits_, n_ranks);
  const ExchangeVolume volume =
      exchange_volume(limits_, fold_, orders, rings, spec_.exchange.folding);
  const std::int64_t n_components = spec_.fields.n_components();

  TransformShares shares;
  TransformWork& largest = shares.largest;
  largest.lmax = spec_.lmax;
  largest.longest_ring = spec_.grid->longest_ring();
  largest.n_ranks = n_ranks;
  double most_degrees = 0;
  double all_degrees = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    double degrees = 0;
    std::int64_t n_alm = 0;
    for (const int m : orders.orders(rank)) {
      degrees += degrees_[to_size(std::int64_t{m})];
      n_alm += spec_.lmax + 1 - m;
    }
    std::int64_t n_pixels = 0;
    for (const RingRange& band : rings.bands(rank))
      for (std::int64_t ring = band.begin; ring < band.end; ++ring)
        n_pixels += spec_.grid->ring(RingId{ring}).n_phi;
    const std::size_t r = to_size(std::int64_t{rank});
    const std::int64_t by_ring = volume.by_ring[r] * mode_bytes;
    const std::int64_t by_order = n_ranks > 1 ? volume.by_order[r] * mode_bytes : 0;
    const std::int64_t map = n_pixels * pixel_bytes;
    most_degrees = std::max(most_degrees, degrees);
    all_degrees += degrees;
    largest.fft_pixel_bytes = std::max(largest.fft_pixel_bytes, n_components * map);
    largest.fft_mode_bytes = std::max(largest.fft_mode_bytes, n_components * by_ring);
    largest.sent_bytes =
        std::max(largest.sent_bytes, n_components * volume.sent(rank) * mode_bytes);
    shares.largest_bytes =
        std::max(shares.largest_bytes,
                 n_components * (n_alm * mode_bytes + std::max(map, by_order) + by_ring));
  }
  const LegendreFlops most = flops_of(spec_.fields, most_degrees);
  largest.scalar_flops = most.scalar;
  largest.spin_flops = most.spin;
  largest.legendre_work = legendre_work_;
  shares.mean_flops = flops_of(spec_.fields, all_degrees / n_ranks).total();
  shares.dense = {static_cast<double>(spec_.grid->n_rings()), spec_.mmax + 1.0,
                  static_cast<double>(n_components * mode_bytes), n_ranks};
  return shares;
}

}  // namespace ringweave
