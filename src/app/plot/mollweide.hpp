// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Colatitude and longitude, radians.
struct SkyPoint {
  double theta = 0;
  double phi = 0;
};

/// A point of the Mollweide plane: the sphere fills the ellipse (x/2)^2 + y^2 <= 1, north up and
/// longitude 0 in the centre. Longitude grows to the left, as seen from inside the sphere.
struct PlanePoint {
  double x = 0;
  double y = 0;
};

/// Applies the equal-area Mollweide projection; any longitude is allowed.
/// From   Snyder (1987), Map Projections: A Working Manual, USGS Prof. Paper 1395, p. 249
PlanePoint mollweide(SkyPoint point);

/// Applies the inverse, phi in [-pi, pi]; returns nothing outside the ellipse.
std::optional<SkyPoint> inverse_mollweide(PlanePoint point);

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
/// Cost    O(width * height) per rank for the rows it owns, one reduction of 2 width * height
///         doubles. Collective.
/// Error   UsageError when the map's size is not that of `rings` or the raster is empty.
template <class T>
std::vector<double> sample_mollweide(const Communicator& comm, const LocalRings& rings,
                                     View<const T> map, int width, int height);

}  // namespace ringweave::detail::inline app
