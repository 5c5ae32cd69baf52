// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/plot/canvas.hpp"
#include "app/plot/value_colours.hpp"

namespace ringweave::detail::inline app {

/// Place of a colour bar, in pixels.
struct ColourBar {
  double line = 1;  ///< scale of lines; 1 at width 1600
  double text = 1;  ///< scale of fonts and the space around them
  int picture_width = 0;
  double left = 0, top = 0, width = 0, height = 0;
  /// The unit, or the power of ten where there is no room beside the bar, stands below it.
  bool has_line_below = false;

  /// Returns the height of a picture that ends with the bar and its texts.
  int bottom() const;
};

/// Returns the bar in the middle of a picture, from `top` on.
ColourBar bar_below(int picture_width, int top, const std::string& unit);

/// Draws the bar with its marks and its unit; ends with values beyond them are arrow heads.
void draw_bar(const Canvas& canvas, const ColourBar& bar, const ValueColours& colours,
              const std::string& unit);

}  // namespace ringweave::detail::inline app
