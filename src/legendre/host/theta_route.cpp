// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/theta_route.hpp"

#include "base/checked_cast.hpp"

namespace ringweave {
namespace {

// What resampling one order to one ring takes, in multiply-adds of the Legendre sums, as measured
// (bench/theta_resampling_bench, bench/legendre_bench). The two routes are equal near lmax = 600.
constexpr double resampling_per_ring = 300;

}  // namespace

bool resamples_theta(const LegendreShape& shape) {
  if (shape.route != ThetaRoute::automatic) return shape.route == ThetaRoute::resampled;
  const int lmax = shape.alm.lmax();
  const double equidistant_rings = lmax + 1;
  const auto n_maps = static_cast<double>(shape.fields.n_components());
  const double per_term = 1 + 2 * n_maps;  // multiply-adds of a degree and pair
  double saved = 0;
  double paid = 0;
  for (std::int64_t row = 0; row < shape.alm.n_orders(); ++row) {
    const int m = shape.alm.order(row);
    const double kept = static_cast<double>(shape.limits.kept(m).size());
    // Equidistant rings are pruned alike.
    const double kept_equidistant =
        kept * equidistant_rings / static_cast<double>(shape.grid->n_rings());
    saved += (kept - kept_equidistant) / 2 * (lmax - m + 1) * per_term;
    paid += kept * n_maps * resampling_per_ring;
  }
  return paid < saved;
}

}  // namespace ringweave
