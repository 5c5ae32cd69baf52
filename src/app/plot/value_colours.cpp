// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/value_colours.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace ringweave::detail::inline app {
namespace {

constexpr Colour unseen_colour{0.74, 0.74, 0.74};

ColourScale scale_of(const ColourChoice& choice, const std::vector<double>& raster) {
  ColourRange range = colour_range(raster, choice.scale);
  range.low = choice.low.value_or(range.low);
  range.high = choice.high.value_or(range.high);
  if (choice.scale != ScaleKind::asinh) return {choice.scale, range};
  return {choice.scale, range,
          choice.linear_range ? *choice.linear_range : default_linear_range(raster)};
}

std::string map_name(const ColourChoice& choice, const ColourScale& scale) {
  if (!choice.colour_map.empty()) return choice.colour_map;
  // The middle of polar is 0, or near it.
  const bool has_both_signs =
      choice.scale != ScaleKind::logarithmic && std::abs(scale.place(0) - 0.5) < 0.4;
  return has_both_signs ? "polar" : "meadow";
}

std::uint32_t packed_colour(const Colour& colour) {
  const auto byte = [](double part) { return static_cast<std::uint32_t>(std::lround(255 * part)); };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

}  // namespace

ValueColours::ValueColours(const ColourChoice& choice, const std::vector<double>& raster)
    : scale_(scale_of(choice, raster)), map_(ColourMap::from_name(map_name(choice, scale_))) {
  for (const double value : raster) {
    if (!scale_.shows(value)) continue;
    has_values_below_ = has_values_below_ || value < scale_.range().low;
    has_values_above_ = has_values_above_ || value > scale_.range().high;
  }
}

std::uint32_t ValueColours::packed(double value) const {
  return packed_colour(scale_.shows(value) ? map_(scale_.place(value)) : unseen_colour);
}

}  // namespace ringweave::detail::inline app
