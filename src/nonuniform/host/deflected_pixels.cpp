// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/host/deflected_pixels.hpp"

#include <numbers>

#include "nonuniform/geodesic.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

template <class Use>
void follow(const DeflectedPixels& pixels, const Use& use) {
  const Ring& ring = *pixels.ring;
  const double step = 2 * std::numbers::pi / static_cast<double>(ring.n_phi);
  for (std::int64_t i = 0; i < pixels.count; ++i) {
    const double phi = ring.phi0 + step * static_cast<double>(pixels.first + i);
    use(i, follow_geodesic({ring.sin_theta, ring.cos_theta, ring.theta, phi},
                           {pixels.d_theta[i], pixels.d_phi[i]}));
  }
}

}  // namespace

void find_positions(const DeflectedPixels& pixels, double* theta, double* phi) noexcept {
  follow(pixels, [&](std::int64_t i, const GeodesicEnd& end) {
    theta[i] = end.theta;
    phi[i] = end.phi;
  });
}

void find_rotation(const DeflectedPixels& pixels, double* cos_gamma, double* sin_gamma) noexcept {
  follow(pixels, [&](std::int64_t i, const GeodesicEnd& end) {
    cos_gamma[i] = end.cos_gamma;
    sin_gamma[i] = end.sin_gamma;
  });
}

}  // namespace ringweave::detail::inline nonuniform
