// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/sky_frame.hpp"

#include <cmath>
#include <cstddef>

namespace ringweave::detail::inline app {
namespace {

double product(const SkyFrame::Direction& a, const SkyFrame::Direction& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

}  // namespace

SkyFrame::SkyFrame(SkyPoint centre)
    : centre_(centre),
      to_centre_{std::sin(centre.theta) * std::cos(centre.phi),
                 std::sin(centre.theta) * std::sin(centre.phi), std::cos(centre.theta)},
      east_{-std::sin(centre.phi), std::cos(centre.phi), 0},
      north_{-std::cos(centre.theta) * std::cos(centre.phi),
             -std::cos(centre.theta) * std::sin(centre.phi), std::sin(centre.theta)} {}

SkyFrame::Direction SkyFrame::components(SkyPoint point) const {
  const double sine = std::sin(point.theta);
  const Direction direction{sine * std::cos(point.phi), sine * std::sin(point.phi),
                            std::cos(point.theta)};
  return {product(direction, to_centre_), product(direction, east_), product(direction, north_)};
}

SkyPoint SkyFrame::point(const Direction& components) const {
  Direction direction{};
  for (std::size_t k = 0; k < direction.size(); ++k) {
    direction[k] =
        components[0] * to_centre_[k] + components[1] * east_[k] + components[2] * north_[k];
  }
  return {std::atan2(std::hypot(direction[0], direction[1]), direction[2]),
          std::atan2(direction[1], direction[0])};
}

}  // namespace ringweave::detail::inline app
