// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "app/plot/sky_frame.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// A square patch of the sky in gnomonic projection: north up at its centre, longitude growing to
/// the left. Its plane is -1 to 1 each way.
class SkyPatch {
 public:
  /// size  width of the patch, radians. Error  UsageError unless it is above 0 and below 2.
  SkyPatch(SkyPoint centre, double size);

  const SkyPoint& centre() const { return frame_.centre(); }
  double size() const { return size_; }
  /// Returns the place of a point, maybe outside the patch; nothing on the far side of the sphere.
  std::optional<PlanePoint> place(SkyPoint point) const;
  SkyPoint point(PlanePoint place) const;

 private:
  SkyFrame frame_;
  double size_;
  double scale_;  ///< of the plane: tan(size / 2)
};

/// Samples a map on a square raster of width x width pixels, as sample_mollweide(): values on rank
/// 0, UNSEEN where most sub-samples are holes. T is float or double. Collective.
template <class T>
std::vector<double> sample_patch(const Communicator& comm, const LocalRings& rings,
                                 View<const T> map, const SkyPatch& patch, int width);

}  // namespace ringweave::detail::inline app
