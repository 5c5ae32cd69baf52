// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/plot/colour_map.hpp"
#include "app/plot/colour_scale.hpp"

namespace ringweave::detail::inline app {

/// The user's choices for the colours of values.
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
  /// Chooses the ends of the colours where the choice has none, by the values of the raster.
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

}  // namespace ringweave::detail::inline app
