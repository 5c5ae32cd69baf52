// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave {

using namespace detail;

namespace {

void need_healpix(const RingGrid& grid, const char* what) {
  if (grid.kind() != GridKind::healpix) {
    throw UsageError(
        fmt::format("{} weights belong to HEALPix grids; this one is {}", what, grid.name()));
  }
}

void need_length(std::int64_t length, std::int64_t expected, std::int64_t nside, const char* what) {
  if (length != expected) {
    throw UsageError(
        fmt::format("{} {} weights; expected {} for nside = {}", length, what, expected, nside));
  }
}

/// Returns the HEALPix number of the ring or of its northern mirror: 1 at the pole, 2 nside on the
/// equator. It is derived from the source pixel, so that it also works for subsets.
std::int64_t northern_number(const Ring& ring, std::int64_t nside) {
  if (ring.n_phi < 4 * nside) return ring.n_phi / 4;
  const std::int64_t cap_pixels = 2 * nside * (nside - 1);
  const std::int64_t number = nside + (ring.source_pixel - cap_pixels) / (4 * nside);
  return std::min(number, 4 * nside - number);
}

/// Symmetry of a ring under quarter turns and reflection at phi = 0: only the pixels up to the
/// middle of a quarter have weights of their own.
struct RingOrbits {
  std::int64_t quarter;      ///< pixels in a quarter of the ring
  std::int64_t half_offset;  ///< 1: pixel 0 is half a pixel away from phi = 0; 0: at phi = 0

  RingOrbits(std::int64_t number, std::int64_t nside)
      : quarter(std::min(number, nside)),
        half_offset(number < nside || (number - nside) % 2 == 0 ? 1 : 0) {}
  std::int64_t size() const { return (quarter - half_offset) / 2 + 1; }
  std::int64_t orbit(std::int64_t pixel) const {
    const std::int64_t j = pixel % quarter;
    return std::min(j, quarter - half_offset - j);
  }
};

}  // namespace

std::vector<double> ring_weights(const LocalRings& rings, std::span<const double> northern) {
  const RingGrid& grid = rings.grid();
  const std::int64_t nside = grid.nside();
  if (std::ranges::all_of(grid.rings(), [](const Ring& ring) { return ring.weight == 0; })) {
    throw UsageError(
        fmt::format("{} has no quadrature weights; give its rings weights, or a grid that has some",
                    grid.name()));
  }
  if (!northern.empty()) {
    need_healpix(grid, "ring");
    need_length(ssize64(northern), 2 * nside, nside, "ring");
  }
  std::vector<double> weights;
  weights.reserve(to_size(rings.n_rings()));
  for (std::int64_t i = 0; i < rings.n_rings(); ++i) {
    const Ring& ring = rings.ring(LocalRing{i});
    const double correction =
        northern.empty() ? 1.0 : northern[to_size(northern_number(ring, nside) - 1)];
    weights.push_back(ring.weight * correction);
  }
  return weights;
}

std::vector<double> expand_pixel_weights(const LocalRings& rings,
                                         std::span<const double> compressed) {
  need_healpix(rings.grid(), "pixel");
  const std::int64_t nside = rings.grid().nside();
  need_length(ssize64(compressed), (nside + 1) * (3 * nside + 1) / 4, nside, "compressed pixel");
  std::vector<std::int64_t> first_weight(to_size(2 * nside + 1));
  for (std::int64_t number = 1; number < 2 * nside; ++number) {
    first_weight[to_size(number + 1)] =
        first_weight[to_size(number)] + RingOrbits(number, nside).size();
  }

  std::vector<double> weights(to_size(rings.n_pixels()));
#pragma omp parallel for schedule(dynamic, 64)
  for (std::int64_t i = 0; i < rings.n_rings(); ++i) {
    const Ring& ring = rings.ring(LocalRing{i});
    const std::int64_t number = northern_number(ring, nside);
    const RingOrbits orbits(number, nside);
    double* const out = weights.data() + rings.first_pixel(LocalRing{i});
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      out[j] = 1 + compressed[to_size(first_weight[to_size(number)] + orbits.orbit(j))];
    }
  }
  return weights;
}

}  // namespace ringweave
