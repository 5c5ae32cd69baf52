// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <numbers>
#include <optional>
#include <vector>

#include "app/plot/sky_frame.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Applies the equal-area Mollweide projection: the sphere fills the ellipse (x/2)^2 + y^2 <= 1,
/// north up and longitude 0 in the centre. Longitude grows to the left, as seen from inside the
/// sphere. Any longitude is allowed.
/// From   Snyder (1987), Map Projections: A Working Manual, USGS Prof. Paper 1395, p. 249
PlanePoint mollweide(SkyPoint point);

/// Applies the inverse, phi in [-pi, pi]; returns nothing outside the ellipse.
std::optional<SkyPoint> inverse_mollweide(PlanePoint point);

/// A Mollweide view of the sky with any point in its centre, north up there.
class MollweideView {
 public:
  explicit MollweideView(SkyPoint centre = {std::numbers::pi / 2, 0});

  const SkyPoint& centre() const { return frame_.centre(); }
  /// Returns true if the centre is on the equator, so that parallels are straight.
  bool is_level() const { return is_level_; }
  PlanePoint place(SkyPoint point) const;
  /// Returns nothing outside the ellipse.
  std::optional<SkyPoint> point(PlanePoint place) const;

 private:
  SkyFrame frame_;
  bool is_level_;
};

/// Pixels of the raster of a picture.
struct RasterSize {
  int width = 0;
  int height = 0;
};

/// Samples a map on the raster of a Mollweide picture whose ellipse touches all four sides. T is
/// float or double.
///
/// map     this rank's pixels of one component in the order of `rings`; UNSEEN and values that are
///         not finite are holes, and so are points farther than 1.5 median ring distances from
///         every ring (a cut sky)
/// return  [row from the top][column], width * height values on rank 0, unspecified elsewhere: each
///         the mean of 2 x 2 nearest sky pixels, UNSEEN if most of them are holes, NaN outside the
///         ellipse
/// Cost    O(width * height) per rank for the rows it owns, for all where not level; one reduction
/// of 2 width * height
///         doubles. Collective.
/// Error   UsageError when the map's size is not that of `rings` or the raster is empty.
template <class T>
std::vector<double> sample_mollweide(const Communicator& comm, const LocalRings& rings,
                                     View<const T> map, int width, int height,
                                     const MollweideView& view = MollweideView());

}  // namespace ringweave::detail::inline app
