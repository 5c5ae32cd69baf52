// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/pixel_finder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the largest distance of a point from the nearest ring.
double reach_of(const RingGrid& grid) {
  const auto all = grid.rings();
  if (all.size() < 2)
    return all.empty() ? 0.0 : std::numbers::pi / static_cast<double>(all[0].n_phi);
  std::vector<double> gaps(all.size() - 1);
  for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = all[i + 1].theta - all[i].theta;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return 1.5 * *middle;
}

}  // namespace

PixelFinder::PixelFinder(const LocalRings& rings) : rings_(rings), reach_(reach_of(rings.grid())) {}

PixelFinder::Row PixelFinder::row(double theta) const {
  Row found;
  const auto all = rings_.grid().rings();
  if (all.empty()) return found;
  const auto above =
      std::lower_bound(all.begin(), all.end(), theta,
                       [](const Ring& ring, double value) { return ring.theta < value; });
  std::int64_t closest = std::min<std::int64_t>(above - all.begin(), ssize64(all) - 1);
  if (closest > 0 && distance(closest - 1, theta) < distance(closest, theta)) --closest;
  if (distance(closest, theta) > reach_) return found;
  for (std::int64_t r = std::max<std::int64_t>(closest - 1, 0);
       r <= std::min(closest + 1, ssize64(all) - 1); ++r) {
    add(RingId{r}, theta, found);
  }
  return found;
}

double PixelFinder::distance(std::int64_t ring, double theta) const {
  return std::abs(rings_.grid().ring(RingId{ring}).theta - theta);
}

void PixelFinder::add(RingId id, double theta, Row& row) const {
  const Ring& ring = rings_.grid().ring(id);
  const bool owned = rings_.owns(id);
  const double half_sine = std::sin((ring.theta - theta) / 2);
  row.candidates[to_size(row.n_candidates++)] = {
      &ring, owned ? rings_.first_pixel(rings_.local(id)) : -1, half_sine * half_sine,
      ring.sin_theta * std::sin(theta)};
  row.has_owned = row.has_owned || owned;
}

std::int64_t PixelFinder::nearest(const Row& row, double phi) {
  double least = std::numeric_limits<double>::infinity();
  std::int64_t pixel = -1;
  for (int i = 0; i < row.n_candidates; ++i) {
    const Row::Candidate& candidate = row.candidates[to_size(i)];
    const Ring& ring = *candidate.ring;
    const double place =
        (phi - ring.phi0) / (2 * std::numbers::pi) * static_cast<double>(ring.n_phi);
    const double column = std::round(place);
    const double half_sine =
        std::sin((place - column) * std::numbers::pi / static_cast<double>(ring.n_phi));
    const double distance =
        candidate.sin2_half_dtheta + candidate.sine_product * half_sine * half_sine;
    if (distance >= least) continue;
    least = distance;
    const std::int64_t j = static_cast<std::int64_t>(column) % ring.n_phi;
    pixel = candidate.first_local < 0 ? -1 : candidate.first_local + (j < 0 ? j + ring.n_phi : j);
  }
  return pixel;
}

void require_raster(const LocalRings& rings, std::int64_t map_size, int width, int height) {
  if (width < 1 || height < 1) throw UsageError("a picture needs at least one pixel each way");
  if (map_size != rings.n_pixels()) {
    throw UsageError("the map to draw holds " + std::to_string(map_size) + " pixels, its rings " +
                     std::to_string(rings.n_pixels()));
  }
}

}  // namespace ringweave::detail::inline app
