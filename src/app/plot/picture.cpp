// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_bar.hpp"
#include "app/plot/sky_lines.hpp"
#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

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
  layout.bar =
      bar_below(picture.width, layout.sky_top + layout.sky.height + pixels(picture.patch ? 74 : 34),
                picture.unit);
  layout.height = layout.bar.bottom();
  return layout;
}

/// Colours the raster. Pixels just outside the sphere repeat their neighbour, so that the edge can
/// be antialiased.
std::vector<std::uint32_t> coloured(const std::vector<double>& raster, const RasterSize& size,
                                    const ValueColours& colours) {
  constexpr std::uint32_t white = 0xffffff;
  std::vector<std::uint32_t> pixels(raster.size(), white);
  for (std::int64_t j = 0; j < size.height; ++j) {
    const double* row = raster.data() + j * size.width;
    const auto on_sphere = [&](std::int64_t i) { return !std::isnan(row[i]); };
    std::int64_t first = 0, last = size.width - 1;
    while (first <= last && !on_sphere(first)) ++first;
    while (last > first && !on_sphere(last)) --last;
    for (std::int64_t i = 0; i < size.width && first <= last; ++i) {
      pixels[to_size(j * size.width + i)] = colours.packed(row[std::clamp(i, first, last)]);
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
  const double room = layout.bar.left - 1.5 * layout.bar.height - layout.sky_left;
  if (canvas.text_width(name, style.size) > room) return;
  canvas.text(layout.sky_left, layout.bar.top + layout.bar.height / 2, name, style);
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
  const ValueColours colours(picture.colours, raster);

  Canvas canvas(layout.width, layout.height, file);
  draw_values(canvas, layout, coloured(raster, layout.sky, colours));
  draw_graticule(canvas, layout);
  draw_bar(canvas, layout.bar, colours, picture.unit);
  canvas.text_within(layout.sky.width, layout.width / 2.0, 46 * layout.text, picture.title,
                     {.size = 32 * layout.text},
                     picture.title_unit.empty() ? "" : " in " + pretty_unit(picture.title_unit));
  name_coordinates(canvas, layout, picture.coordsys);
  canvas.write();
}

}  // namespace ringweave::detail::inline app
