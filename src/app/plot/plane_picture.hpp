// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/plot/picture_file.hpp"
#include "app/plot/value_colours.hpp"

namespace ringweave::detail::inline app {

/// Nodes of an axis of a field in the plane, ascending, and its title.
struct PlaneNodesShown {
  std::vector<double> places;
  std::string title;  ///< plain text
  std::string unit;   ///< behind it in brackets, in the markup of Canvas::markup()
};

/// Elements of a picture of a field in the plane besides its values.
struct PlanePicture {
  int width = 1600;  ///< pixels of the whole picture, with which other sizes scale; fonts not
                     ///< below a legible size
  std::string title{};
  std::string title_unit{};  ///< behind it after "in", set like the unit
  std::string unit{};        ///< under the colour bar
  ColourChoice colours{};
  PlaneNodesShown x{};
  PlaneNodesShown y{};
  bool is_to_scale = true;  ///< one unit of y is as long as one of x; else a square
};

/// Returns for each of `count` equal cells between the first and the last node the node nearest to
/// its middle.
std::vector<std::int64_t> nearest_nodes(const std::vector<double>& nodes, int count);

/// Draws a field on rank 0: each pixel has the colour of the nearest node.
///
/// values  [y][x], one for each node; UNSEEN, NaN and values without a logarithm are grey
/// Error   UsageError for another number of values, a range that the scale cannot show, a width
///         outside 200..20000, an unknown colour map; ResourceError when the file cannot be
///         written.
/// Not collective.
void draw_plane(const PlanePicture& picture, const std::vector<double>& values,
                const PictureFile& file);

}  // namespace ringweave::detail::inline app
