// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_bar.hpp"
#include "app/plot/gnomonic.hpp"
#include "app/plot/mollweide.hpp"

namespace ringweave::detail::inline app {

/// Positions in pixels.
struct SkyLayout {
  double scale = 1;  ///< for lines; 1 at width 1600
  double text = 1;   ///< for fonts and the space around them; not below a half
  int width = 0;
  int height = 0;
  int sky_left = 0;
  int sky_top = 0;
  RasterSize sky;
  ColourBar bar{};

  std::optional<SkyPatch> patch{};  ///< the part of the sky that is shown; without: all
  MollweideView view{};             ///< of all of it

  double x(const PlanePoint& point) const {
    const double extent = patch ? 1 : 2;
    return sky_left + (point.x + extent) / (2 * extent) * sky.width;
  }
  /// Returns true if there is room for the degrees of the lines of the sky.
  bool has_degrees() const { return patch || scale > 0.41; }
  double y(const PlanePoint& point) const { return sky_top + (1 - point.y) / 2 * sky.height; }
};

/// The edge of the sky: an ellipse, of a patch a square.
void outline_path(const Canvas& canvas, const SkyLayout& layout);

/// Draws meridians and parallels with their degrees, and the edge.
void draw_graticule(const Canvas& canvas, const SkyLayout& layout);

}  // namespace ringweave::detail::inline app
