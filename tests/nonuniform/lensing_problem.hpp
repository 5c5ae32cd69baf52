// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "nonuniform/geodesic.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::test {

/// The orders of a rank, dealt in turn.
inline AlmLayout layout_in_turn(const Communicator& comm, int lmax) {
  std::vector<int> orders;
  for (int m = comm.rank(); m <= lmax; m += comm.size()) orders.push_back(m);
  return {lmax, lmax, orders};
}

enum class Curl { without, with };

/// A potential whose convergence has about the same power in all degrees from 1 on, the same on any
/// number of ranks.
struct RandomPotential {
  /// convergence  its rms; that of the rotation is half of it
  RandomPotential(const Communicator& comm, int lmax, double convergence, Curl curl = Curl::with)
      : layout(layout_in_turn(comm, lmax)), alm(curl == Curl::with ? 2 : 1, layout.size()) {
    for (std::int64_t c = 0; c < alm.n_components(); ++c) {
      for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
        const int m = layout.order(row);
        for (int l = m; l <= lmax; ++l) {
          const NoisePair x = noise_pair(31, static_cast<std::uint32_t>(c), l, m);
          const double scale = l == 0 ? 0
                                      : convergence * std::sqrt(4 * std::numbers::pi) / (lmax + 1) *
                                            2 / (l * (l + 1.0)) / static_cast<double>(c + 1);
          alm.view().component(c)[layout.index(row, l)] =
              m == 0 ? scale * x.re : std::complex<double>(x.re, x.im) * (scale * std::sqrt(0.5));
        }
      }
    }
  }
  Potential view() const {
    Potential potential{layout, alm.view().components(0, 1), {}};
    if (alm.n_components() == 2) potential.omega = alm.view().components(1, 1);
    return potential;
  }

  AlmLayout layout;
  AlmBuffer<double> alm;  ///< [phi, Omega]
};

inline std::shared_ptr<const RingGrid> shared(RingGrid grid) {
  return std::make_shared<const RingGrid>(std::move(grid));
}

/// Longitude of every pixel of a rank and its ring.
template <class Use>
void for_each_pixel(const LocalRings& rings, const Use& use) {
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      use(rings.first_pixel(LocalRing{r}) + j, ring,
          ring.phi0 +
              2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(ring.n_phi));
    }
  }
}

/// n' of every pixel.
inline Directions positions_of(const Deflection& deflection) {
  Directions ends;
  ends.theta.resize(to_size(deflection.rings().n_pixels()));
  ends.phi.resize(ends.theta.size());
  deflection.positions({ends.theta.data(), ends.size()}, {ends.phi.data(), ends.size()});
  return ends;
}

/// Deflects the ends of some pixels of an inverse deflection, as rings of one pixel, and returns
/// the largest distance from where they come from, radians: one pixel of `every`, and those near
/// the poles. `whole` has all orders.
inline double worst_return(const Deflection& inverse, const Potential& whole, std::int64_t every) {
  const Directions ends = positions_of(inverse);
  std::vector<RingSpec> rings;
  std::vector<SpherePoint> starts;
  for_each_pixel(inverse.rings(), [&](std::int64_t i, const Ring& ring, double phi) {
    if (i % every > 0 && ring.sin_theta > 0.02) return;
    rings.push_back({ends.theta[to_size(i)], ends.phi[to_size(i)], 1, 0});
    starts.push_back({ring.sin_theta, ring.cos_theta, ring.theta, phi});
  });
  if (rings.empty()) return 0;
  // As a grid has its rings.
  std::vector<std::size_t> order(rings.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return rings[a].theta < rings[b].theta; });
  const Directions back =
      positions_of(Deflection(Communicator::self(), shared(RingGrid::from_rings(rings)), whole));
  double worst = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SpherePoint end{std::sin(back.theta[i]), std::cos(back.theta[i]), back.theta[i],
                          back.phi[i]};
    const Tangent gap = geodesic_to(starts[order[i]], end);
    worst = std::max(worst, std::hypot(gap.theta, gap.phi));
  }
  return worst;
}

}  // namespace ringweave::detail::test
