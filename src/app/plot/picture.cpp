// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_map.hpp"
#include "app/plot/sky_lines.hpp"
#include "app/plot/ticks.hpp"
#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr Colour unseen_colour{0.74, 0.74, 0.74};

/// Returns true if the unit, or the power of ten where there is no room beside the bar, stands
/// below it.
bool has_line_below_bar(const std::string& unit, const SkyLayout& layout) {
  return !unit.empty() || layout.text > layout.scale;
}

SkyLayout lay_out(const SkyPicture& picture) {
  if (picture.width < 200 || picture.width > 20000) {
    throw UsageError(
        fmt::format("a sky picture cannot be {} pixels wide; choose 200..20000", picture.width));
  }
  SkyLayout layout;
  layout.width = picture.width;
  layout.scale = picture.width / 1600.0;
  layout.text = std::max(layout.scale, 0.5);
  const auto pixels = [&](double at_1600) {
    return static_cast<int>(std::lround(at_1600 * layout.text));
  };
  layout.patch = picture.patch;
  layout.view = picture.view;
  layout.sky_left = pixels(picture.patch ? 170 : layout.has_degrees() ? 64 : 24);
  layout.sky_top = picture.title.empty() ? pixels(36) : pixels(96);
  layout.sky.width = (picture.width - 2 * layout.sky_left) / 2 * 2;
  layout.sky.height = picture.patch ? layout.sky.width : layout.sky.width / 2;
  layout.bar_width = std::min<double>(pixels(820), 0.75 * picture.width);
  layout.bar_height = pixels(26);
  layout.bar_left = (picture.width - layout.bar_width) / 2;
  layout.bar_top = layout.sky_top + layout.sky.height + pixels(picture.patch ? 74 : 34);
  layout.height = static_cast<int>(layout.bar_top + layout.bar_height) +
                  pixels(has_line_below_bar(picture.unit, layout) ? 104 : 62);
  return layout;
}

std::uint32_t packed(const Colour& colour) {
  const auto byte = [](double part) { return static_cast<std::uint32_t>(std::lround(255 * part)); };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

/// Colours the raster. Pixels just outside the sphere repeat their neighbour, so that the edge can
/// be antialiased.
std::vector<std::uint32_t> coloured(const std::vector<double>& raster, const RasterSize& size,
                                    const ColourMap& colours, const ColourScale& scale) {
  std::vector<std::uint32_t> pixels(raster.size(), packed({1, 1, 1}));
  const std::uint32_t hole = packed(unseen_colour);
  for (std::int64_t j = 0; j < size.height; ++j) {
    const double* row = raster.data() + j * size.width;
    const auto on_sphere = [&](std::int64_t i) { return !std::isnan(row[i]); };
    std::int64_t first = 0, last = size.width - 1;
    while (first <= last && !on_sphere(first)) ++first;
    while (last > first && !on_sphere(last)) --last;
    for (std::int64_t i = 0; i < size.width && first <= last; ++i) {
      const double value = row[std::clamp(i, first, last)];
      pixels[to_size(j * size.width + i)] =
          scale.shows(value) ? packed(colours(scale.place(value))) : hole;
    }
  }
  return pixels;
}

void draw_values(const Canvas& canvas, const SkyLayout& layout, std::vector<std::uint32_t> pixels) {
  cairo_t* cairo = canvas.cairo();
  cairo_surface_t* image = cairo_image_surface_create_for_data(
      reinterpret_cast<unsigned char*>(pixels.data()), CAIRO_FORMAT_RGB24, layout.sky.width,
      layout.sky.height, layout.sky.width * 4);
  cairo_set_source_surface(cairo, image, layout.sky_left, layout.sky_top);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_BEST);
  outline_path(canvas, layout);
  cairo_fill(cairo);
  canvas.set_colour(line_colour);
  cairo_surface_finish(image);
  cairo_surface_destroy(image);
}

/// Outline of the colour bar; an end with values beyond it is an arrow head.
struct BarEnds {
  bool below = false;
  bool above = false;
};

void bar_path(const Canvas& canvas, const SkyLayout& layout, const BarEnds& ends) {
  cairo_t* cairo = canvas.cairo();
  const double left = layout.bar_left, right = left + layout.bar_width;
  const double top = layout.bar_top, bottom = top + layout.bar_height;
  const double tip = 0.9 * layout.bar_height;
  cairo_new_path(cairo);
  cairo_move_to(cairo, left, top);
  cairo_line_to(cairo, right, top);
  if (ends.above) cairo_line_to(cairo, right + tip, (top + bottom) / 2);
  cairo_line_to(cairo, right, bottom);
  cairo_line_to(cairo, left, bottom);
  if (ends.below) cairo_line_to(cairo, left - tip, (top + bottom) / 2);
  cairo_close_path(cairo);
}

void draw_bar(const Canvas& canvas, const SkyLayout& layout, const ColourMap& colours,
              const BarEnds& ends) {
  cairo_t* cairo = canvas.cairo();
  cairo_pattern_t* gradient =
      cairo_pattern_create_linear(layout.bar_left, 0, layout.bar_left + layout.bar_width, 0);
  constexpr int stops = 256;
  for (int i = 0; i <= stops; ++i) {
    const Colour colour = colours(static_cast<double>(i) / stops);
    cairo_pattern_add_color_stop_rgb(gradient, static_cast<double>(i) / stops, colour.red,
                                     colour.green, colour.blue);
  }
  bar_path(canvas, layout, ends);
  cairo_set_source(cairo, gradient);
  cairo_fill_preserve(cairo);
  cairo_pattern_destroy(gradient);
  canvas.set_colour(line_colour);
  cairo_set_line_width(cairo, 1.4 * layout.scale);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
  cairo_stroke(cairo);
}

/// Returns as many marks as have room for their labels.
Ticks ticks_with_room(const Canvas& canvas, const SkyLayout& layout, const ColourScale& scale,
                      double size) {
  for (int most = 9; true; --most) {
    Ticks ticks = scale.ticks(most);
    bool has_room = true;
    for (std::size_t i = 1; i < ticks.places.size(); ++i) {
      const double distance =
          layout.bar_width * (scale.place(ticks.places[i]) - scale.place(ticks.places[i - 1]));
      const double needed = (canvas.markup_width(ticks.labels[i], size) +
                             canvas.markup_width(ticks.labels[i - 1], size)) /
                                2 +
                            0.5 * size;
      has_room = has_room && distance >= needed;
    }
    if (has_room || most == 2) return ticks;
  }
}

void label_bar(const Canvas& canvas, const SkyLayout& layout, const ColourScale& scale,
               const std::string& unit) {
  cairo_t* cairo = canvas.cairo();
  const double text = layout.text;
  TextStyle style{.size = 22 * text, .vertical = VerticalAlign::top};
  const Ticks ticks = ticks_with_room(canvas, layout, scale, style.size);
  const double bottom = layout.bar_top + layout.bar_height;
  for (std::size_t i = 0; i < ticks.places.size(); ++i) {
    const double x = layout.bar_left + layout.bar_width * scale.place(ticks.places[i]);
    cairo_move_to(cairo, x, bottom);
    cairo_line_to(cairo, x, bottom + 8 * text);
    canvas.set_colour(line_colour);
    cairo_stroke(cairo);
    canvas.markup(x, bottom + 16 * text, ticks.labels[i], style);
  }
  const std::string power = ticks.exponent == 0
                                ? ""
                                : fmt::format("10^{{{}{}}}", ticks.exponent < 0 ? "\u2212" : "",
                                              std::abs(ticks.exponent));
  if (!has_line_below_bar(unit, layout)) {
    style.horizontal = HorizontalAlign::left;
    canvas.markup(layout.bar_left + layout.bar_width + 46 * text, bottom + 16 * text,
                  power.empty() ? "" : "\u00d7 " + power, style);
    return;
  }
  style.size = 24 * text;
  canvas.markup(layout.width / 2.0, bottom + 58 * text,
                unit.empty() && !power.empty()
                    ? "\u00d7 " + power
                    : power + (power.empty() ? "" : " ") + pretty_unit(unit),
                style);
}

std::string name_of_coordsys(const std::string& name) {
  // Planck's maps have words.
  if (name == "G" || name == "GALACTIC") return "Galactic (l, b)";
  if (name == "C" || name == "Q" || name == "CELESTIAL" || name == "EQUATORIAL")
    return "Equatorial (\u03b1, \u03b4)";
  if (name == "E" || name == "ECLIPTIC") return "Ecliptic (\u03bb, \u03b2)";
  return "";
}

/// Writes the name left of the colour bar, where it has room.
void name_coordinates(const Canvas& canvas, const SkyLayout& layout, const std::string& coordsys) {
  const TextStyle style{
      .size = 19 * layout.text, .horizontal = HorizontalAlign::left, .colour = {0.35, 0.35, 0.35}};
  const std::string name = name_of_coordsys(coordsys);
  const double room = layout.bar_left - 1.5 * layout.bar_height - layout.sky_left;
  if (canvas.text_width(name, style.size) > room) return;
  canvas.text(layout.sky_left, layout.bar_top + layout.bar_height / 2, name, style);
}

ColourScale chosen_scale(const SkyPicture& picture, const std::vector<double>& raster) {
  ColourRange range = colour_range(raster, picture.scale);
  range.low = picture.low.value_or(range.low);
  range.high = picture.high.value_or(range.high);
  if (picture.scale != ScaleKind::asinh) return {picture.scale, range};
  return {picture.scale, range,
          picture.linear_range ? *picture.linear_range : default_linear_range(raster)};
}

}  // namespace

RasterSize raster_size(const SkyPicture& picture) { return lay_out(picture).sky; }

void draw_sky(const SkyPicture& picture, const std::vector<double>& raster,
              const PictureFile& file) {
  const SkyLayout layout = lay_out(picture);
  const std::int64_t wanted = static_cast<std::int64_t>(layout.sky.width) * layout.sky.height;
  if (ssize64(raster) != wanted) {
    throw UsageError(fmt::format("the raster holds {} pixels, the picture shows {} x {}",
                                 raster.size(), layout.sky.width, layout.sky.height));
  }
  const ColourScale scale = chosen_scale(picture, raster);
  // The middle of polar is 0, or near it.
  const bool has_both_signs =
      picture.scale != ScaleKind::logarithmic && std::abs(scale.place(0) - 0.5) < 0.4;
  const std::string automatic = has_both_signs ? "polar" : "meadow";
  const ColourMap colours =
      ColourMap::from_name(picture.colour_map.empty() ? automatic : picture.colour_map);
  BarEnds ends;
  for (const double value : raster) {
    if (!scale.shows(value)) continue;
    ends.below = ends.below || value < scale.range().low;
    ends.above = ends.above || value > scale.range().high;
  }

  const Canvas canvas(layout.width, layout.height, file);
  draw_values(canvas, layout, coloured(raster, layout.sky, colours, scale));
  draw_graticule(canvas, layout);
  draw_bar(canvas, layout, colours, ends);
  label_bar(canvas, layout, scale, picture.unit);
  canvas.text_within(layout.sky.width, layout.width / 2.0, 46 * layout.text, picture.title,
                     {.size = 32 * layout.text},
                     picture.title_unit.empty() ? "" : " in " + pretty_unit(picture.title_unit));
  name_coordinates(canvas, layout, picture.coordsys);
  canvas.write();
}

}  // namespace ringweave::detail::inline app
