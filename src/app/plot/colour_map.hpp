// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// An sRGB colour, each component in [0, 1].
struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;
};

/// A colour scale over [0, 1], interpolated smoothly between control points in CIELAB so that equal
/// steps of the value look equal.
///   polar   blue - white - red, both arms equally light: fields with both signs
///   sky     deep blue - cream - orange - dark red: the microwave sky
///   meadow  indigo - teal - yellow, lightness strictly rising: positive fields
///   grey    black - white
///   viridis that of Matplotlib, to three of its 255 levels
///   planck  blue - cream - orange - dark red, after the maps of Planck's papers
class ColourMap {
 public:
  /// Returns the scale of this name. Error  UsageError that lists the names.
  static ColourMap from_name(const std::string& name);
  static const std::vector<std::string>& names();

  /// Returns the colour of a value; below 0 and above 1 the end colours.
  Colour operator()(double value) const;

 private:
  std::vector<Colour> table_;
};

/// Returns the colour of the i-th curve of a plot: six that are distinct in grey too, then again
/// from the first.
Colour curve_colour(int i);

}  // namespace ringweave::detail::inline app
