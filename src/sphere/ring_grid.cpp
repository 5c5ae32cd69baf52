// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "sphere/quadrature.hpp"

namespace ringweave {

using namespace detail;

namespace {

using std::numbers::pi;

// Rings closer than this to a mirror image, or to each other's, count as coincident: 8 units in the
// last place of pi, the rounding error of pi - theta.
constexpr double same_theta = 3.6e-15;

Ring healpix_ring(std::int64_t nside, std::int64_t i) {
  const double n = static_cast<double>(nside);
  const bool southern = i > 2 * nside;
  const std::int64_t north = southern ? 4 * nside - i : i;
  const double k = static_cast<double>(north);
  Ring ring;
  if (north < nside) {
    const double one_minus_z = k * k / (3 * n * n);
    ring.cos_theta = 1 - one_minus_z;
    ring.sin_theta = std::sqrt(one_minus_z * (2 - one_minus_z));
    ring.theta = 2 * std::asin(k / (std::sqrt(6.0) * n));
    ring.n_phi = 4 * north;
    ring.phi0 = pi / static_cast<double>(ring.n_phi);
  } else {
    ring.cos_theta = 2 * static_cast<double>(2 * nside - north) / (3 * n);
    ring.sin_theta = std::sqrt((1 - ring.cos_theta) * (1 + ring.cos_theta));
    ring.theta = std::acos(ring.cos_theta);
    ring.n_phi = 4 * nside;
    ring.phi0 = (north - nside) % 2 == 0 ? pi / static_cast<double>(ring.n_phi) : 0.0;
  }
  if (southern) {
    ring.cos_theta = -ring.cos_theta;
    ring.theta = pi - ring.theta;
  }
  ring.weight = pi / (3 * n * n);
  return ring;
}

bool is_good_fft_length(std::int64_t n) {
  for (const std::int64_t factor : {2, 3, 5, 7}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

std::int64_t good_fft_length(std::int64_t at_least) {
  std::int64_t n = at_least + at_least % 2;
  while (!is_good_fft_length(n)) n += 2;
  return n;
}

void check_rings(const char* grid, std::int64_t n_rings, std::int64_t least, std::int64_t n_phi,
                 double first_longitude) {
  if (n_rings < least || n_rings > RingGrid::most_rings) {
    throw UsageError(fmt::format("a {} grid of {} rings; expected {} to {}", grid, n_rings, least,
                                 RingGrid::most_rings));
  }
  if (n_phi < 0)
    throw UsageError(
        fmt::format("a {} grid with {} pixels a ring; expected 1 or more", grid, n_phi));
  if (!(std::abs(first_longitude) <= 360)) {
    throw UsageError(
        fmt::format("a {} grid with its first pixel at longitude {}; expected degrees "
                    "within -360 ... 360",
                    grid, first_longitude));
  }
}

std::vector<Ring> rings_at(const std::vector<QuadratureNode>& nodes, std::int64_t n_phi,
                           double first_longitude) {
  std::vector<Ring> rings;
  rings.reserve(nodes.size());
  for (const QuadratureNode& node : nodes) {
    Ring ring;
    ring.theta = node.theta;
    ring.cos_theta = node.cos_theta;
    ring.sin_theta = node.sin_theta;
    ring.phi0 = first_longitude * pi / 180;
    ring.n_phi = n_phi;
    ring.weight = node.weight * 2 * pi / static_cast<double>(n_phi);
    rings.push_back(ring);
  }
  return rings;
}

std::string grid_name(const char* kind, std::int64_t size, std::int64_t n_phi,
                      std::int64_t default_n_phi, double first_longitude) {
  if (first_longitude != 0) return fmt::format("{}:{},{},{}", kind, size, n_phi, first_longitude);
  return n_phi == default_n_phi ? fmt::format("{}:{}", kind, size)
                                : fmt::format("{}:{},{}", kind, size, n_phi);
}

Ring user_ring(const RingSpec& spec, std::size_t number) {
  if (!(std::isfinite(spec.theta) && std::isfinite(spec.phi0) && std::isfinite(spec.weight))) {
    throw UsageError(
        fmt::format("ring {}: theta = {}, phi0 = {}, weight = {}; expected finite numbers", number,
                    spec.theta, spec.phi0, spec.weight));
  }
  if (spec.theta < 0 || spec.theta > pi) {
    throw UsageError(
        fmt::format("ring {}: theta = {}; expected radians within [0, pi]", number, spec.theta));
  }
  if (spec.n_phi < 1)
    throw UsageError(fmt::format("ring {}: {} pixels; expected 1 or more", number, spec.n_phi));
  Ring ring;
  ring.theta = spec.theta;
  ring.cos_theta = std::abs(spec.theta - pi / 2) < same_theta ? 0.0 : std::cos(spec.theta);
  ring.sin_theta = spec.theta == pi ? 0.0 : std::sin(spec.theta);
  ring.phi0 = spec.phi0;
  ring.n_phi = spec.n_phi;
  ring.weight = spec.weight;
  return ring;
}

}  // namespace

RingGrid::RingGrid(GridKind kind, std::int64_t nside, std::string name, std::vector<Ring> rings)
    : kind_(kind), nside_(nside), name_(std::move(name)), rings_(std::move(rings)) {
  finish();
  for (Ring& ring : rings_) ring.source_pixel = ring.first_pixel;
  n_source_pixels_ = n_pixels_;

  const std::int64_t by_phi = (longest_ring() - 1) / 2;
  switch (kind_) {
    case GridKind::healpix: default_lmax_ = 3 * nside_ - 1; break;
    case GridKind::gauss_legendre: default_lmax_ = std::min(n_rings() - 1, by_phi); break;
    default: default_lmax_ = std::min((n_rings() - 1) / 2, by_phi);
  }
}

void RingGrid::finish() {
  n_pixels_ = 0;
  for (Ring& ring : rings_) {
    ring.first_pixel = n_pixels_;
    if (__builtin_add_overflow(n_pixels_, ring.n_phi, &n_pixels_)) {
      throw UsageError(fmt::format("grid {}: the number of pixels exceeds 64 bits", name_));
    }
  }

  pairs_.clear();
  std::int64_t north = 0;
  std::int64_t south = n_rings() - 1;
  while (north <= south) {
    const Ring& upper = rings_[to_size(north)];
    const Ring& lower = rings_[to_size(south)];
    const double from_north = upper.theta;
    const double from_south = pi - lower.theta;
    const bool mirrored = std::abs(from_north - from_south) < same_theta;
    if (mirrored && north < south) {
      pairs_.push_back({north++, south--, std::abs(upper.cos_theta), upper.sin_theta});
    } else if (mirrored || from_north < from_south) {
      pairs_.push_back({north++, RingPair::none, std::abs(upper.cos_theta), upper.sin_theta});
    } else {
      pairs_.push_back({RingPair::none, south--, std::abs(lower.cos_theta), lower.sin_theta});
    }
  }
}

RingGrid RingGrid::healpix(std::int64_t nside) {
  if (nside < 1 || nside > most_nside) {
    throw UsageError(fmt::format("nside = {}; expected 1 to {}", nside, most_nside));
  }
  std::vector<Ring> rings;
  rings.reserve(to_size(4 * nside - 1));
  for (std::int64_t i = 1; i < 4 * nside; ++i) rings.push_back(healpix_ring(nside, i));
  return {GridKind::healpix, nside, fmt::format("healpix:{}", nside), std::move(rings)};
}

RingGrid RingGrid::gauss_legendre(std::int64_t n_rings, std::int64_t n_phi,
                                  double first_longitude) {
  check_rings("Gauss-Legendre", n_rings, 1, n_phi, first_longitude);
  const std::int64_t standard = good_fft_length(2 * n_rings);
  if (n_phi == 0) n_phi = standard;
  return {GridKind::gauss_legendre, 0,
          grid_name("gauss", n_rings - 1, n_phi, standard, first_longitude),
          rings_at(gauss_legendre_nodes(n_rings), n_phi, first_longitude)};
}

RingGrid RingGrid::clenshaw_curtis(std::int64_t n_rings, std::int64_t n_phi,
                                   double first_longitude) {
  check_rings("Clenshaw-Curtis", n_rings, 2, n_phi, first_longitude);
  const std::int64_t standard = good_fft_length(2 * n_rings);
  if (n_phi == 0) n_phi = standard;
  return {GridKind::clenshaw_curtis, 0,
          grid_name("clenshaw", n_rings, n_phi, standard, first_longitude),
          rings_at(clenshaw_curtis_nodes(n_rings), n_phi, first_longitude)};
}

RingGrid RingGrid::fejer(std::int64_t n_rings, std::int64_t n_phi, double first_longitude) {
  check_rings("Fejer", n_rings, 1, n_phi, first_longitude);
  const std::int64_t standard = good_fft_length(2 * n_rings);
  if (n_phi == 0) n_phi = standard;
  return {GridKind::fejer, 0, grid_name("fejer", n_rings, n_phi, standard, first_longitude),
          rings_at(fejer_nodes(n_rings), n_phi, first_longitude)};
}

RingGrid RingGrid::from_rings(std::vector<RingSpec> specs) {
  if (specs.empty()) throw UsageError("a grid needs at least one ring");
  std::vector<Ring> rings;
  rings.reserve(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) rings.push_back(user_ring(specs[i], i));
  std::stable_sort(rings.begin(), rings.end(),
                   [](const Ring& a, const Ring& b) { return a.theta < b.theta; });
  for (std::size_t i = 1; i < rings.size(); ++i) {
    if (rings[i].theta == rings[i - 1].theta) {
      throw UsageError(
          fmt::format("two rings at theta = {}; expected every ring at a colatitude of its own",
                      rings[i].theta));
    }
  }
  std::string name = fmt::format("user grid of {} rings", rings.size());
  return {GridKind::user, 0, std::move(name), std::move(rings)};
}

RingGrid RingGrid::subset(std::span<const RingId> kept) const {
  if (kept.empty())
    throw UsageError(fmt::format("a subset of {} keeps no ring; expected at least one", name_));
  RingGrid part = *this;
  part.rings_.clear();
  part.rings_.reserve(kept.size());
  std::int64_t last = -1;
  for (const RingId id : kept) {
    if (index(id) <= last || index(id) >= n_rings()) {
      throw UsageError(fmt::format(
          "a subset of {} asks for ring {} after ring {}; expected ascending numbers below {}",
          name_, index(id), last, n_rings()));
    }
    part.rings_.push_back(ring(id));
    last = index(id);
  }
  part.name_ = fmt::format("{} of the {} rings of {}", kept.size(), n_rings(), name_);
  part.is_subset_ = true;
  part.finish();
  return part;
}

int RingGrid::default_lmax() const { return checked_cast<int>(default_lmax_, "the default lmax"); }

std::int64_t RingGrid::longest_ring() const {
  std::int64_t longest = 0;
  for (const Ring& ring : rings_) longest = std::max(longest, ring.n_phi);
  return longest;
}

RingId RingGrid::ring_of_pixel(std::int64_t pixel) const {
  if (pixel < 0 || pixel >= n_pixels_) {
    throw UsageError(fmt::format("pixel {} of {}; expected 0 to {}", pixel, name_, n_pixels_ - 1));
  }
  const auto after = std::upper_bound(
      rings_.begin(), rings_.end(), pixel,
      [](std::int64_t value, const Ring& ring) { return value < ring.first_pixel; });
  return RingId{after - rings_.begin() - 1};
}

}  // namespace ringweave
