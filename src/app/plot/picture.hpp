// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/plot/gnomonic.hpp"
#include "app/plot/picture_file.hpp"

namespace ringweave::detail::inline app {

/// Elements of a picture of the sky besides the values.
struct SkyPicture {
  int width = 1600;        ///< pixels of the whole picture, with which all other sizes scale
  std::string title;       ///< above the sky, as plain text
  std::string unit;        ///< under the colour bar; "K_CMB", "uK^2" are set with scripts
  std::string colour_map;  ///< a name for ColourMap; empty: "polar" for both signs, else "meadow"
  std::optional<double> low,
      high;                         ///< ends of the colours; default: colour_range()
  std::string coordsys;             ///< COORDSYS: G, C, E, or GALACTIC, ...; others are not shown
  std::optional<SkyPatch> patch{};  ///< what to show of the sky; all of it without
};

/// Values at the two ends of the colours.
struct ColourRange {
  double low = 0;
  double high = 1;
};

/// Returns the size of the raster that a picture needs.
RasterSize raster_size(const SkyPicture& picture);

/// Returns the default range of a raster (equal-area, so its percentiles are those of the sky).
/// Both signs, the smaller at least a twentieth of the larger at the 0.5 and 99.5 percentiles:
/// symmetric about 0, to the 99.5 percentile of |value| rounded up to two digits. One sign: from
/// smallest to largest, or to the 99.5 percentile if the last half percent would take up more than
/// two thirds of the colours. No values: 0 to 1.
ColourRange colour_range(const std::vector<double>& raster);

/// Draws the sky on rank 0: ellipse, graticule, colour bar, title.
///
/// raster  from sample_mollweide(), of a patch sample_patch(), with raster_size(); UNSEEN is grey,
/// values beyond the range get
///         the end colours and arrow heads on the colour bar
/// Error   UsageError for a raster of another size, low >= high, a width outside 200..20000, an
/// unknown colour map; ResourceError when the file cannot be written.
/// Not collective.
void draw_sky(const SkyPicture& picture, const std::vector<double>& raster,
              const PictureFile& file);

}  // namespace ringweave::detail::inline app
