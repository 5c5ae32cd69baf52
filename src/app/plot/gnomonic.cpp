// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/gnomonic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/plot/pixel_finder.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

SkyPatch::SkyPatch(SkyPoint centre, double size)
    : frame_(centre), size_(size), scale_(std::tan(size / 2)) {
  if (!(size > 0 && size < 2))
    throw UsageError(
        fmt::format("a patch of {:.3g} radians cannot be drawn; its width must be "
                    "above 0 and below 2 (114deg)",
                    size));
}

std::optional<PlanePoint> SkyPatch::place(SkyPoint point) const {
  const auto [depth, east, north] = frame_.components(point);
  if (!(depth > 1e-3)) return std::nullopt;
  return PlanePoint{-east / depth / scale_, north / depth / scale_};
}

SkyPoint SkyPatch::point(PlanePoint place) const {
  return frame_.point({1.0, -scale_ * place.x, scale_ * place.y});
}

template <class T>
std::vector<double> sample_patch(const Communicator& comm, const LocalRings& rings,
                                 View<const T> map, const SkyPatch& patch, int width) {
  std::vector<double> raster;
  agree(comm, [&] {
    require_raster(rings, map.size(), width, width);
    raster = sums_of_samples(
        rings, map, width, width,
        [&](PlanePoint place) { return std::optional(patch.point(place)); }, 1);
  });
  return raster_of(comm, std::move(raster), [](std::int64_t) { return 4; });
}

template std::vector<double> sample_patch(const Communicator&, const LocalRings&, View<const float>,
                                          const SkyPatch&, int);
template std::vector<double> sample_patch(const Communicator&, const LocalRings&,
                                          View<const double>, const SkyPatch&, int);

}  // namespace ringweave::detail::inline app
