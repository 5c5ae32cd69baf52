// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/plane_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_bar.hpp"
#include "app/plot/curve_frame.hpp"
#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Positions in pixels.
struct PlaneLayout {
  double scale = 1;
  double text = 1;
  int height = 0;  ///< of the picture
  int left = 0, top = 0;
  int field_width = 0, field_height = 0;
  ColourBar bar;
};

/// Returns the ends of an axis; around a single node a unit.
PlotAxis axis_of(const PlaneNodesShown& nodes) {
  PlotAxis axis;
  axis.scale = AxisScale::linear;
  axis.low = nodes.places.front();
  axis.high = nodes.places.back();
  if (!(axis.low < axis.high)) {
    axis.low -= 0.5;
    axis.high += 0.5;
  }
  return axis;
}

PlaneLayout lay_out(const PlanePicture& picture) {
  PlaneLayout layout;
  layout.scale = picture.width / 1600.0;
  layout.text = std::max(layout.scale, 0.5);
  const auto pixels = [&](double at_1600) {
    return static_cast<int>(std::lround(at_1600 * layout.text));
  };
  const int margin = pixels(190);
  const double room = std::max(picture.width - margin - pixels(80), 2);
  const PlotAxis x = axis_of(picture.x), y = axis_of(picture.y);
  const double aspect = picture.is_to_scale ? (y.high - y.low) / (x.high - x.low) : 1;
  const double width = std::min(room, 1.25 * room / aspect);
  layout.field_width = std::max(static_cast<int>(std::lround(width)), 2);
  layout.field_height = std::max(static_cast<int>(std::lround(width * aspect)), 2);
  layout.left = margin + (static_cast<int>(room) - layout.field_width) / 2;
  layout.top = picture.title.empty() ? pixels(36) : pixels(96);
  layout.bar =
      bar_below(picture.width, layout.top + layout.field_height + pixels(116), picture.unit);
  layout.height = layout.bar.bottom();
  return layout;
}

/// Returns the value of every pixel, from the top.
std::vector<double> raster_of(const PlanePicture& picture, const PlaneLayout& layout,
                              const std::vector<double>& values) {
  const std::vector<std::int64_t> columns = nearest_nodes(picture.x.places, layout.field_width);
  const std::vector<std::int64_t> rows = nearest_nodes(picture.y.places, layout.field_height);
  std::vector<double> raster;
  raster.reserve(columns.size() * rows.size());
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    for (const std::int64_t column : columns)
      raster.push_back(values[to_size(*row * ssize64(picture.x.places) + column)]);
  }
  return raster;
}

void draw_raster(const Canvas& canvas, const PlaneLayout& layout, const ValueColours& colours,
                 const std::vector<double>& raster) {
  std::vector<std::uint32_t> pixels;
  pixels.reserve(raster.size());
  for (const double value : raster) pixels.push_back(colours.packed(value));
  cairo_surface_t* image = cairo_image_surface_create_for_data(
      reinterpret_cast<unsigned char*>(pixels.data()), CAIRO_FORMAT_RGB24, layout.field_width,
      layout.field_height, layout.field_width * 4);
  cairo_t* cairo = canvas.cairo();
  cairo_set_source_surface(cairo, image, layout.left, layout.top);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cairo, layout.left, layout.top, layout.field_width, layout.field_height);
  cairo_fill(cairo);
  canvas.set_colour(line_colour);
  cairo_surface_finish(image);
  cairo_surface_destroy(image);
}

/// Returns the title of an axis with its unit and the power of ten of its numbers.
std::string title_of(const PlaneNodesShown& nodes, const PlotAxis& axis) {
  const int exponent = axis.ticks().exponent;
  std::string unit = pretty_unit(nodes.unit);
  if (exponent != 0) {
    unit = fmt::format("10^{{{}{}}}{}{}", exponent < 0 ? "\u2212" : "", std::abs(exponent),
                       unit.empty() ? "" : " ", unit);
  }
  return unit.empty() ? nodes.title : fmt::format("{} ({})", nodes.title, unit);
}

void draw_frame(const Canvas& canvas, const PlanePicture& picture, const PlaneLayout& layout) {
  CurveFrame frame;
  frame.scale = layout.scale;
  frame.text = layout.text;
  frame.x = axis_of(picture.x);
  frame.y = axis_of(picture.y);
  // Titles stand at a fixed distance from the left of the canvas.
  const double shift = layout.left - 190 * layout.text;
  frame.x.begin = layout.left - shift;
  frame.x.end = frame.x.begin + layout.field_width;
  frame.y.begin = layout.top + layout.field_height;
  frame.y.end = layout.top;
  fit_ticks(frame);
  cairo_save(canvas.cairo());
  cairo_translate(canvas.cairo(), shift, 0);
  draw_axes(canvas, frame, {title_of(picture.x, frame.x), title_of(picture.y, frame.y)});
  cairo_restore(canvas.cairo());
}

}  // namespace

std::vector<std::int64_t> nearest_nodes(const std::vector<double>& nodes, int count) {
  std::vector<std::int64_t> nearest;
  const double first = nodes.front(), extent = nodes.back() - nodes.front();
  std::int64_t node = 0;
  for (int i = 0; i < count; ++i) {
    const double middle = first + extent * (i + 0.5) / count;
    while (node + 1 < ssize64(nodes) &&
           nodes[to_size(node + 1)] - middle < middle - nodes[to_size(node)])
      ++node;
    nearest.push_back(node);
  }
  return nearest;
}

void draw_plane(const PlanePicture& picture, const std::vector<double>& values,
                const PictureFile& file) {
  if (picture.width < 200 || picture.width > 20000) {
    throw UsageError(
        fmt::format("a picture cannot be {} pixels wide; choose 200..20000", picture.width));
  }
  const std::int64_t n_nodes = ssize64(picture.x.places) * ssize64(picture.y.places);
  if (n_nodes == 0 || ssize64(values) != n_nodes) {
    throw UsageError(fmt::format("{} values are not one for each of {} x {} nodes", values.size(),
                                 picture.y.places.size(), picture.x.places.size()));
  }
  const PlaneLayout layout = lay_out(picture);
  const std::vector<double> raster = raster_of(picture, layout, values);
  const ValueColours colours(picture.colours, raster);
  Canvas canvas(picture.width, layout.height, file);
  draw_raster(canvas, layout, colours, raster);
  draw_frame(canvas, picture, layout);
  draw_bar(canvas, layout.bar, colours, picture.unit);
  canvas.text_within(picture.width - 100 * layout.text, picture.width / 2.0, 46 * layout.text,
                     picture.title, {.size = 32 * layout.text},
                     picture.title_unit.empty() ? "" : " in " + pretty_unit(picture.title_unit));
  canvas.write();
}

}  // namespace ringweave::detail::inline app
