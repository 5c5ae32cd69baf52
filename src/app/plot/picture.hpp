// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/plot/gnomonic.hpp"
#include "app/plot/mollweide.hpp"
#include "app/plot/picture_file.hpp"
#include "app/plot/value_colours.hpp"

namespace ringweave::detail::inline app {

/// Elements of a picture of the sky besides the values.
struct SkyPicture {
  int width = 1600;   ///< pixels of the whole picture, with which other sizes scale; fonts not
                      ///< below a legible size
  std::string title;  ///< above the sky, as plain text
  std::string title_unit{};  ///< behind it after "in", set like the unit
  std::string unit;          ///< under the colour bar; "K_CMB", "uK^2" are set with scripts
  ColourChoice colours{};
  std::string coordsys;             ///< COORDSYS: G, C, E, or GALACTIC, ...; others are not shown
  std::optional<SkyPatch> patch{};  ///< the part of the sky to show; without: all
  MollweideView view{};             ///< of all of it
};

/// Returns the size of the raster that a picture needs.
RasterSize raster_size(const SkyPicture& picture);

/// Draws the sky on rank 0: ellipse, graticule, colour bar, title.
///
/// raster  from sample_mollweide(), of a patch sample_patch(), with raster_size(); UNSEEN is grey,
///         and so are values without a logarithm; values beyond the range get the end colours and
///         arrow heads on the colour bar
/// Error   UsageError for a raster of another size, a range that the scale cannot show, a width
///         outside 200..20000, an unknown colour map; ResourceError when the file cannot be
///         written.
/// Not collective.
void draw_sky(const SkyPicture& picture, const std::vector<double>& raster,
              const PictureFile& file);

}  // namespace ringweave::detail::inline app
