// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/mollweide.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr double pi = std::numbers::pi;

// Returns the complement c = pi/2 - a of the projection's auxiliary angle a, counted from the
// nearer pole: 2 c - sin 2c = pi (1 - |cos theta|) keeps its digits there.
double auxiliary_complement(double pole_distance) {
  const double half_sine = std::sin(pole_distance / 2);
  const double target = 2 * pi * half_sine * half_sine;
  // The cubic approximation is a lower bound and the function is convex, so Newton steps overshoot
  // once and then descend.
  double c = std::cbrt(0.75 * target);
  for (int step = 0; step < 30 && c > 0; ++step) {
    const double sine = std::sin(c);
    const double change = (2 * c - std::sin(2 * c) - target) / (4 * sine * sine);
    c = std::min(c - change, pi / 2);
    if (std::abs(change) <= 1e-16 * c) break;
  }
  return c;
}

/// One row of sub-samples: its colatitude, and the rings whose pixels may be nearest to it.
struct SampleRow {
  struct Candidate {
    const Ring* ring = nullptr;
    std::int64_t first_local = -1;  ///< local number of the ring's first pixel; -1: on another rank
    double sin2_half_dtheta = 0;
    double sine_product = 0;
  };
  double y = 0;
  double theta = 0;
  std::array<Candidate, 3> candidates;
  int n_candidates = 0;
  bool has_owned = false;
};

class RowFinder {
 public:
  explicit RowFinder(const LocalRings& rings) : rings_(rings), reach_(reach_of(rings.grid())) {}

  /// Returns a row, without candidates if it is outside the sphere or the grid has no ring near it.
  SampleRow row(double y) const {
    SampleRow result;
    result.y = y;
    result.theta = inverse_mollweide({0, y})->theta;
    const auto all = rings_.grid().rings();
    if (all.empty()) return result;
    const auto above =
        std::lower_bound(all.begin(), all.end(), result.theta,
                         [](const Ring& ring, double theta) { return ring.theta < theta; });
    std::int64_t nearest = std::min<std::int64_t>(above - all.begin(), ssize64(all) - 1);
    if (nearest > 0 && distance(nearest - 1, result.theta) < distance(nearest, result.theta)) {
      --nearest;
    }
    if (distance(nearest, result.theta) > reach_) return result;
    for (std::int64_t r = std::max<std::int64_t>(nearest - 1, 0);
         r <= std::min(nearest + 1, ssize64(all) - 1); ++r) {
      add(RingId{r}, result);
    }
    return result;
  }

 private:
  static double reach_of(const RingGrid& grid) {
    const auto all = grid.rings();
    if (all.size() < 2) return all.empty() ? 0.0 : pi / static_cast<double>(all[0].n_phi);
    std::vector<double> gaps(all.size() - 1);
    for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = all[i + 1].theta - all[i].theta;
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    return 1.5 * *middle;
  }

  double distance(std::int64_t ring, double theta) const {
    return std::abs(rings_.grid().ring(RingId{ring}).theta - theta);
  }

  void add(RingId id, SampleRow& row) const {
    const Ring& ring = rings_.grid().ring(id);
    const bool owned = rings_.owns(id);
    const double half_sine = std::sin((ring.theta - row.theta) / 2);
    row.candidates[to_size(row.n_candidates++)] = {
        &ring, owned ? rings_.first_pixel(rings_.local(id)) : -1, half_sine * half_sine,
        ring.sin_theta * std::sin(row.theta)};
    row.has_owned = row.has_owned || owned;
  }

  const LocalRings& rings_;
  double reach_;
};

/// Returns the local number of the pixel nearest to longitude phi, or -1 if another rank owns it.
std::int64_t nearest_pixel(const SampleRow& row, double phi) {
  double least = std::numeric_limits<double>::infinity();
  std::int64_t pixel = -1;
  for (int i = 0; i < row.n_candidates; ++i) {
    const SampleRow::Candidate& candidate = row.candidates[to_size(i)];
    const Ring& ring = *candidate.ring;
    const double place = (phi - ring.phi0) / (2 * pi) * static_cast<double>(ring.n_phi);
    const double column = std::round(place);
    const double half_sine = std::sin((place - column) * pi / static_cast<double>(ring.n_phi));
    const double distance =
        candidate.sin2_half_dtheta + candidate.sine_product * half_sine * half_sine;
    if (distance >= least) continue;
    least = distance;
    const std::int64_t j = static_cast<std::int64_t>(column) % ring.n_phi;
    pixel = candidate.first_local < 0 ? -1 : candidate.first_local + (j < 0 ? j + ring.n_phi : j);
  }
  return pixel;
}

/// Returns positions of the 2 x 2 sub-samples along one axis, from -extent to extent.
double sub_sample(int i, int half, int n, double extent) {
  return extent * (2 * (i + 0.25 + 0.5 * half) / n - 1);
}

/// Adds the sub-samples of one row whose nearest pixel this rank owns.
template <class T>
void add_row(const SampleRow& row, View<const T> map, int width, double* sums, double* counts) {
  for (int i = 0; i < 2 * width; ++i) {
    const auto point = inverse_mollweide({sub_sample(i / 2, i % 2, width, 2), row.y});
    if (!point) continue;
    const std::int64_t pixel = nearest_pixel(row, point->phi);
    if (pixel < 0) continue;
    const double value = static_cast<double>(map[pixel]);
    if (is_unseen(value) || !std::isfinite(value)) continue;
    sums[i / 2] += value;
    counts[i / 2] += 1;
  }
}

/// Returns how many sub-samples of a raster pixel are on the sphere.
int inside(int column, int row, int width, int height) {
  int count = 0;
  for (int half = 0; half < 4; ++half) {
    const PlanePoint point{sub_sample(column, half % 2, width, 2),
                           -sub_sample(row, half / 2, height, 1)};
    if (inverse_mollweide(point)) ++count;
  }
  return count;
}

template <class T>
void check(const LocalRings& rings, View<const T> map, int width, int height) {
  if (width < 1 || height < 1) throw UsageError("a picture needs at least one pixel each way");
  if (map.size() != rings.n_pixels()) {
    throw UsageError("the map to draw holds " + std::to_string(map.size()) + " pixels, its rings " +
                     std::to_string(rings.n_pixels()));
  }
}

/// Returns this rank's share: [sum of the values, number of values][raster pixel].
template <class T>
std::vector<double> local_sums(const LocalRings& rings, View<const T> map, int width, int height) {
  const std::int64_t size = checked_product(width, height, "pixels of the picture");
  std::vector<double> sums(to_size(2 * size), 0.0);
  const RowFinder finder(rings);
  for (int j = 0; j < 2 * height; ++j) {
    const SampleRow row = finder.row(-sub_sample(j / 2, j % 2, height, 1));
    if (!row.has_owned) continue;
    double* const begin = sums.data() + static_cast<std::int64_t>(j / 2) * width;
    add_row(row, map, width, begin, begin + size);
  }
  return sums;
}

}  // namespace

PlanePoint mollweide(SkyPoint point) {
  const bool north = point.theta <= pi / 2;
  const double c = auxiliary_complement(north ? point.theta : pi - point.theta);
  const double longitude = std::remainder(point.phi, 2 * pi);
  return {-2 / pi * longitude * std::sin(c), north ? std::cos(c) : -std::cos(c)};
}

std::optional<SkyPoint> inverse_mollweide(PlanePoint point) {
  const double sine = std::sqrt(std::max(0.0, (1 - point.y) * (1 + point.y)));
  if (std::abs(point.y) > 1 || std::abs(point.x) > 2 * sine) return std::nullopt;
  const double c = std::atan2(sine, std::abs(point.y));
  const double pole_distance =
      2 * std::asin(std::sqrt(std::max(0.0, 2 * c - std::sin(2 * c)) / (2 * pi)));
  const double phi = sine > 0 ? -pi * point.x / (2 * sine) : 0.0;
  return SkyPoint{point.y >= 0 ? pole_distance : pi - pole_distance, phi};
}

template <class T>
std::vector<double> sample_mollweide(const Communicator& comm, const LocalRings& rings,
                                     View<const T> map, int width, int height) {
  std::vector<double> raster;
  agree(comm, [&] {
    check(rings, map, width, height);
    raster = local_sums(rings, map, width, height);
  });
  comm.sum_to_root(raster.data(), ssize64(raster));
  const std::int64_t size = ssize64(raster) / 2;
  for (std::int64_t p = 0; p < size; ++p) {
    double& value = raster[to_size(p)];
    const double count = raster[to_size(size + p)];
    const int on_sphere =
        inside(static_cast<int>(p % width), static_cast<int>(p / width), width, height);
    if (on_sphere == 0) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      value = 2 * count >= on_sphere ? value / count : unseen;
    }
  }
  raster.resize(to_size(size));
  return raster;
}

template std::vector<double> sample_mollweide(const Communicator&, const LocalRings&,
                                              View<const float>, int, int);
template std::vector<double> sample_mollweide(const Communicator&, const LocalRings&,
                                              View<const double>, int, int);

}  // namespace ringweave::detail::inline app
