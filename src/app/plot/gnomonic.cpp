// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/gnomonic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "app/plot/pixel_finder.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr int per_pixel = 4;  // sub-samples, two each way

double product(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Returns this rank's share: [sum of the values, number of values][raster pixel].
template <class T>
std::vector<double> local_sums(const LocalRings& rings, View<const T> map, const SkyPatch& patch,
                               int width) {
  const std::int64_t size = checked_product(width, width, "pixels of the picture");
  std::vector<double> sums(to_size(2 * size), 0.0);
  const PixelFinder finder(rings);
#pragma omp parallel for schedule(dynamic)
  for (int j = 0; j < width; ++j) {
    for (int sample = 0; sample < per_pixel * width; ++sample) {
      const int i = sample / per_pixel;
      const SkyPoint point = patch.point(
          {sub_sample(i, sample % 2, width, 1), -sub_sample(j, sample / 2 % 2, width, 1)});
      const std::int64_t pixel = PixelFinder::nearest(finder.row(point.theta), point.phi);
      if (pixel < 0) continue;
      const double value = static_cast<double>(map[pixel]);
      if (is_unseen(value) || !std::isfinite(value)) continue;
      const std::int64_t place = static_cast<std::int64_t>(j) * width + i;
      sums[to_size(place)] += value;
      sums[to_size(size + place)] += 1;
    }
  }
  return sums;
}

}  // namespace

SkyPatch::SkyPatch(SkyPoint centre, double size)
    : centre_(centre), size_(size), scale_(std::tan(size / 2)) {
  if (!(size > 0 && size < 2))
    throw UsageError(
        fmt::format("a patch of {:.3g} radians cannot be drawn; its width must be "
                    "above 0 and below 2 (114deg)",
                    size));
  const double sine = std::sin(centre.theta);
  const double cosine = std::cos(centre.theta);
  to_centre_ = {sine * std::cos(centre.phi), sine * std::sin(centre.phi), cosine};
  east_ = {-std::sin(centre.phi), std::cos(centre.phi), 0};
  north_ = {-cosine * std::cos(centre.phi), -cosine * std::sin(centre.phi), sine};
}

std::optional<PlanePoint> SkyPatch::place(SkyPoint point) const {
  const double sine = std::sin(point.theta);
  const Direction direction{sine * std::cos(point.phi), sine * std::sin(point.phi),
                            std::cos(point.theta)};
  const double depth = product(direction, to_centre_);
  if (!(depth > 1e-3)) return std::nullopt;
  return PlanePoint{-product(direction, east_) / depth / scale_,
                    product(direction, north_) / depth / scale_};
}

SkyPoint SkyPatch::point(PlanePoint place) const {
  Direction direction{};
  for (std::size_t k = 0; k < 3; ++k)
    direction[k] = to_centre_[k] + scale_ * (-place.x * east_[k] + place.y * north_[k]);
  return {std::atan2(std::hypot(direction[0], direction[1]), direction[2]),
          std::atan2(direction[1], direction[0])};
}

template <class T>
std::vector<double> sample_patch(const Communicator& comm, const LocalRings& rings,
                                 View<const T> map, const SkyPatch& patch, int width) {
  std::vector<double> raster;
  agree(comm, [&] {
    require_raster(rings, map.size(), width, width);
    raster = local_sums(rings, map, patch, width);
  });
  return raster_of(comm, std::move(raster), [](std::int64_t) { return per_pixel; });
}

template std::vector<double> sample_patch(const Communicator&, const LocalRings&, View<const float>,
                                          const SkyPatch&, int);
template std::vector<double> sample_patch(const Communicator&, const LocalRings&,
                                          View<const double>, const SkyPatch&, int);

}  // namespace ringweave::detail::inline app
