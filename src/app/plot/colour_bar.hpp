// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_map.hpp"
#include "app/plot/colour_scale.hpp"

namespace ringweave::detail::inline app {

inline constexpr Colour line_colour{0.13, 0.13, 0.13};

/// What may be chosen of the colours of values.
struct ColourChoice {
  std::string
      colour_map;  ///< a name for ColourMap; empty: "polar" where 0 is well within, else "meadow"
  ScaleKind scale = ScaleKind::linear;
  std::optional<double> low, high;       ///< ends of the colours; default: colour_range()
  std::optional<double> linear_range{};  ///< of asinh; default: default_linear_range()
};

/// The colours of the values of a raster.
class ValueColours {
 public:
  /// Error  UsageError for a range that the scale cannot show and for an unknown colour map.
  ValueColours(const ColourChoice& choice, const std::vector<double>& raster);

  const ColourScale& scale() const { return scale_; }
  const ColourMap& map() const { return map_; }
  bool has_values_below() const { return has_values_below_; }  ///< the low end of the colours
  bool has_values_above() const { return has_values_above_; }
  /// Returns the colour of a value as a pixel of Cairo's format RGB24; grey where it has none.
  std::uint32_t packed(double value) const;

 private:
  ColourScale scale_;
  ColourMap map_;
  bool has_values_below_ = false;
  bool has_values_above_ = false;
};

/// Where a colour bar is drawn, in pixels.
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
