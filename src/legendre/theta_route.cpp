// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/theta_route.hpp"

#include <algorithm>

#include "ringweave/execution.hpp"

namespace ringweave::detail::inline legendre {
namespace {

// Cost of resampling one order to one ring, in multiply-adds of the Legendre sums, as measured
// (bench/theta_resampling_bench, bench/legendre_bench). The two routes are equal near lmax = 600.
constexpr double resampling_per_ring = 300;

}  // namespace

ThetaWork theta_work(const RingGrid& grid, const ModeLimits& limits, std::span<const int> orders,
                     std::int64_t n_components) {
  const double equidistant_rings = limits.lmax() + 1;
  // Equidistant rings are pruned in the same way.
  const double share = equidistant_rings / static_cast<double>(grid.n_rings());
  const auto n_maps = static_cast<double>(n_components);
  const double per_term = 1 + 2 * n_maps;  // multiply-adds per degree and pair
  ThetaWork work;
  for (const int m : orders) {
    const double kept = static_cast<double>(limits.kept(m).size());
    const double direct = kept / 2 * (limits.lmax() - m + 1) * per_term;
    work.direct += direct;
    work.resampled += share * direct + kept * n_maps * resampling_per_ring;
  }
  return work;
}

bool resamples_theta(const LegendreShape& shape) {
  if (shape.fine_rows != nullptr) return true;
  if (shape.route != ThetaRoute::automatic) return shape.route == ThetaRoute::resampled;
  const ThetaWork work = theta_work(*shape.grid, shape.limits, shape.alm.orders(),
                                    std::min(shape.fields.n_components(), shape.route_components));
  return work.resampled < work.direct;
}

}  // namespace ringweave::detail::inline legendre
