// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace ringweave::detail::inline app {

/// Colatitude and longitude, radians.
struct SkyPoint {
  double theta = 0;
  double phi = 0;
};

/// A point of the plane of a projection.
struct PlanePoint {
  double x = 0;
  double y = 0;
};

/// The sky as seen from its centre towards a point, north up.
class SkyFrame {
 public:
  /// Components of a unit vector: to the point in the middle, to its east and to its north.
  using Direction = std::array<double, 3>;

  explicit SkyFrame(SkyPoint centre);

  const SkyPoint& centre() const { return centre_; }
  Direction components(SkyPoint point) const;
  /// Returns the point in a direction of any length.
  SkyPoint point(const Direction& components) const;

 private:
  SkyPoint centre_;
  Direction to_centre_, east_, north_;
};

}  // namespace ringweave::detail::inline app
