// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/mollweide.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "app/plot/pixel_finder.hpp"
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

/// Adds the sub-samples of one row, at y, whose nearest pixel this rank owns.
/// turn  longitude in the middle
template <class T>
void add_row(const PixelFinder::Row& row, double y, double turn, View<const T> map, int width,
             double* sums, double* counts) {
  for (int i = 0; i < 2 * width; ++i) {
    const auto point = inverse_mollweide({sub_sample(i / 2, i % 2, width, 2), y});
    if (!point) continue;
    const std::int64_t pixel = PixelFinder::nearest(row, point->phi + turn);
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

/// Returns this rank's share as sums_of_samples() does, for a level view: the points of a row have
/// one colatitude.
template <class T>
std::vector<double> sums_by_row(const LocalRings& rings, View<const T> map, int width, int height,
                                double turn) {
  const std::int64_t size = checked_product(width, height, "pixels of the picture");
  std::vector<double> sums(to_size(2 * size), 0.0);
  const PixelFinder finder(rings);
#pragma omp parallel for schedule(dynamic)
  for (int j = 0; j < height; ++j) {
    for (int half = 0; half < 2; ++half) {
      const double y = -sub_sample(j, half, height, 1);
      const PixelFinder::Row row = finder.row(inverse_mollweide({0, y})->theta);
      if (!row.has_owned) continue;
      double* const begin = sums.data() + static_cast<std::int64_t>(j) * width;
      add_row(row, y, turn, map, width, begin, begin + size);
    }
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

MollweideView::MollweideView(SkyPoint centre) : frame_(centre), is_level_(centre.theta == pi / 2) {}

PlanePoint MollweideView::place(SkyPoint point) const {
  if (is_level_) return mollweide({point.theta, point.phi - centre().phi});
  const auto [depth, east, north] = frame_.components(point);
  return mollweide({std::atan2(std::hypot(depth, east), north), std::atan2(east, depth)});
}

std::optional<SkyPoint> MollweideView::point(PlanePoint place) const {
  const std::optional<SkyPoint> seen = inverse_mollweide(place);
  if (!seen) return std::nullopt;
  if (is_level_) return SkyPoint{seen->theta, seen->phi + centre().phi};
  const double sine = std::sin(seen->theta);
  return frame_.point(
      {sine * std::cos(seen->phi), sine * std::sin(seen->phi), std::cos(seen->theta)});
}

template <class T>
std::vector<double> sample_mollweide(const Communicator& comm, const LocalRings& rings,
                                     View<const T> map, int width, int height,
                                     const MollweideView& view) {
  std::vector<double> raster;
  agree(comm, [&] {
    require_raster(rings, map.size(), width, height);
    raster = view.is_level() ? sums_by_row(rings, map, width, height, view.centre().phi)
                             : sums_of_samples(
                                   rings, map, width, height,
                                   [&](PlanePoint place) { return view.point(place); }, 2);
  });
  return raster_of(comm, std::move(raster), [&](std::int64_t p) {
    return inside(static_cast<int>(p % width), static_cast<int>(p / width), width, height);
  });
}

template std::vector<double> sample_mollweide(const Communicator&, const LocalRings&,
                                              View<const float>, int, int, const MollweideView&);
template std::vector<double> sample_mollweide(const Communicator&, const LocalRings&,
                                              View<const double>, int, int, const MollweideView&);

}  // namespace ringweave::detail::inline app
