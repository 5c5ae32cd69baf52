// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/sky_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace ringweave::detail::inline app {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr int graticule_step = 30;  // degrees between meridians and between parallels

void ellipse_path(const Canvas& canvas, const SkyLayout& layout) {
  cairo_t* cairo = canvas.cairo();
  cairo_save(cairo);
  cairo_translate(cairo, layout.sky_left + layout.sky.width / 2.0,
                  layout.sky_top + layout.sky.height / 2.0);
  cairo_scale(cairo, layout.sky.width / 2.0, layout.sky.height / 2.0);
  cairo_new_path(cairo);
  cairo_arc(cairo, 0, 0, 1, 0, 2 * std::numbers::pi);
  cairo_close_path(cairo);
  cairo_restore(cairo);
}

/// Draws a line through points of the sky, in pieces where it leaves at one edge and comes back at
/// the other.
void stroke_line(const Canvas& canvas, const SkyLayout& layout,
                 const std::vector<SkyPoint>& points) {
  std::optional<PlanePoint> last;
  for (const SkyPoint& point : points) {
    const PlanePoint place = layout.view.place(point);
    if (last && std::abs(place.x - last->x) > 1) cairo_new_sub_path(canvas.cairo());
    cairo_line_to(canvas.cairo(), layout.x(place), layout.y(place));
    last = place;
  }
  cairo_stroke(canvas.cairo());
}

void stroke_meridian(const Canvas& canvas, const SkyLayout& layout, double phi) {
  std::vector<SkyPoint> points;
  for (int step = 0; step <= 180; ++step) points.push_back({step * degree, phi});
  stroke_line(canvas, layout, points);
}

void stroke_parallel(const Canvas& canvas, const SkyLayout& layout, double latitude) {
  const double theta = (90 - latitude) * degree;
  if (!layout.view.is_level()) {
    std::vector<SkyPoint> points;
    for (int step = 0; step <= 720; ++step) points.push_back({theta, 0.5 * step * degree});
    return stroke_line(canvas, layout, points);
  }
  const double y = mollweide({theta, 0}).y;
  const double half = 2 * std::sqrt(1 - y * y);
  cairo_move_to(canvas.cairo(), layout.x({-half, y}), layout.y({-half, y}));
  cairo_line_to(canvas.cairo(), layout.x({half, y}), layout.y({half, y}));
  cairo_stroke(canvas.cairo());
}

/// Returns true if a meridian is the edge of the view.
bool is_edge(const SkyLayout& layout, double phi) {
  const double from_middle = std::remainder(phi - layout.view.centre().phi, 360 * degree);
  return layout.view.is_level() && std::abs(from_middle) > 179.99 * degree;
}

std::string degrees(double value) {
  return fmt::format("{}{:g}\u00b0", value < 0 ? "\u2212" : "", std::abs(value));
}

/// Draws a label on the sky, but not across its edge.
void label_point(const Canvas& canvas, const SkyLayout& layout, const SkyPoint& point,
                 const std::string& label, const TextStyle& style) {
  const PlanePoint place = layout.view.place(point);
  constexpr double nearly_the_edge = 0.88;
  if (place.x * place.x / 4 + place.y * place.y > nearly_the_edge) return;
  canvas.text(layout.x(place), layout.y(place), label, style);
}

/// Latitudes stand left of the sky where parallels end there, else on a meridian near the middle,
/// one without a longitude.
void label_parallels(const Canvas& canvas, const SkyLayout& layout, const TextStyle& on_sky) {
  constexpr double apart = 2 * graticule_step * degree;
  const double meridian = (std::floor(layout.view.centre().phi / apart) + 0.5) * apart;
  TextStyle outside = on_sky;
  outside.horizontal = HorizontalAlign::right;
  outside.colour = {0.35, 0.35, 0.35};
  for (int latitude = -60; latitude <= 60; latitude += graticule_step) {
    const double theta = (90 - latitude) * degree;
    if (!layout.view.is_level()) {
      label_point(canvas, layout, {theta, meridian}, degrees(latitude), on_sky);
      continue;
    }
    const double y = mollweide({theta, 0}).y;
    const double x = -2 * std::sqrt(1 - y * y);
    canvas.text(layout.x({x, y}) - 10 * layout.text,
                layout.y({x, y}) - 8 * layout.text * latitude / 60, degrees(latitude), outside);
  }
}

/// Longitudes of every second meridian stand on a parallel off the equator, where maps of the
/// Galaxy have little to show; that of the edge right of it.
void label_meridians(const Canvas& canvas, const SkyLayout& layout, const TextStyle& on_sky) {
  const double from_pole = layout.view.is_level()                     ? 150
                           : layout.view.centre().theta > 90 * degree ? 120
                                                                      : 60;
  TextStyle outside = on_sky;
  outside.horizontal = HorizontalAlign::left;
  outside.colour = {0.35, 0.35, 0.35};
  for (int phi = 0; phi < 360; phi += 2 * graticule_step) {
    if (is_edge(layout, phi * degree)) {
      canvas.text(layout.x({2, 0}) + 10 * layout.text, layout.y({2, 0}), degrees(phi), outside);
    } else {
      label_point(canvas, layout, {from_pole * degree, phi * degree}, degrees(phi), on_sky);
    }
  }
}

void label_graticule(const Canvas& canvas, const SkyLayout& layout) {
  const TextStyle on_sky{.size = 17 * layout.text, .colour = line_colour, .halo = 3 * layout.text};
  label_parallels(canvas, layout, on_sky);
  label_meridians(canvas, layout, on_sky);
}

void stroke_graticule(const Canvas& canvas, const SkyLayout& layout) {
  for (int latitude = -60; latitude <= 60; latitude += graticule_step)
    stroke_parallel(canvas, layout, latitude);
  for (int phi = 0; phi < 360; phi += graticule_step) {
    if (!is_edge(layout, phi * degree)) stroke_meridian(canvas, layout, phi * degree);
  }
}

/// A line of the sky as it lies on a patch, in pieces on the near side of the sphere.
std::vector<std::vector<PlanePoint>> pieces_of(const SkyPatch& patch,
                                               const std::vector<SkyPoint>& points) {
  std::vector<std::vector<PlanePoint>> pieces(1);
  for (const SkyPoint& point : points) {
    if (const auto place = patch.place(point)) {
      pieces.back().push_back(*place);
    } else if (!pieces.back().empty()) {
      pieces.emplace_back();
    }
  }
  return pieces;
}

/// Degrees between lines, of which some four cross a patch.
double step_for(double size_degrees) {
  for (const double step : {30.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02}) {
    if (step <= size_degrees / 3) return step;
  }
  return 0.01;
}

/// The multiples of `step` from `low` to `high`.
std::vector<double> multiples(double step, double low, double high) {
  std::vector<double> values;
  for (double k = std::ceil(low / step); k * step <= high; ++k) values.push_back(k * step);
  return values;
}

/// Calls draw() at crossings of a piece with an edge of the patch at -1; `along` is the coordinate
/// that changes.
template <class Along, class Across, class Draw>
void at_crossing(const std::vector<PlanePoint>& piece, const Along& along, const Across& across,
                 const Draw& draw) {
  for (std::size_t i = 1; i < piece.size(); ++i) {
    const double before = along(piece[i - 1]) + 1;
    const double after = along(piece[i]) + 1;
    if ((before < 0) == (after < 0)) continue;
    const double part = before / (before - after);
    const double place = across(piece[i - 1]) + part * (across(piece[i]) - across(piece[i - 1]));
    if (std::abs(place) <= 1) draw(place);
  }
}

double x_of(const PlanePoint& point) { return point.x; }
double y_of(const PlanePoint& point) { return point.y; }

void stroke_pieces(const Canvas& canvas, const SkyLayout& layout,
                   const std::vector<std::vector<PlanePoint>>& pieces) {
  // Beyond that, Cairo's fixed-point coordinates would wrap around.
  constexpr double farthest = 20;
  cairo_t* cairo = canvas.cairo();
  for (const std::vector<PlanePoint>& piece : pieces) {
    cairo_new_path(cairo);
    for (const PlanePoint& point : piece) {
      if (std::max(std::abs(point.x), std::abs(point.y)) > farthest) {
        cairo_new_sub_path(cairo);
      } else {
        cairo_line_to(cairo, layout.x(point), layout.y(point));
      }
    }
    cairo_stroke(cairo);
  }
}

/// Lines of one kind on a patch, with their degrees along an edge.
struct PatchLine {
  double degrees = 0;
  std::vector<std::vector<PlanePoint>> pieces;
};

std::vector<PatchLine> parallels_of(const SkyPatch& patch) {
  constexpr int n_points = 400;
  const double size = patch.size() / degree;
  const double centre = 90 - patch.centre().theta / degree;
  std::vector<PatchLine> lines;
  for (const double latitude : multiples(step_for(size), std::max(-89.999, centre - size),
                                         std::min(89.999, centre + size))) {
    std::vector<SkyPoint> points;
    for (int i = 0; i <= n_points; ++i) {
      const double turn = std::numbers::pi * (2.0 * i / n_points - 1);
      // Points are dense near the centre.
      const double phi = patch.centre().phi + turn * std::abs(turn) / std::numbers::pi;
      points.push_back({(90 - latitude) * degree, phi});
    }
    lines.push_back({latitude, pieces_of(patch, points)});
  }
  return lines;
}

std::vector<PatchLine> meridians_of(const SkyPatch& patch) {
  constexpr int n_points = 400;
  const double size = patch.size() / degree;
  const double latitude = 90 - patch.centre().theta / degree;
  const double shrink = std::max(0.02, std::cos(latitude * degree));
  const double step = step_for(std::min(90.0, size / shrink));
  const double reach = std::min(180.0, 1.5 * size / shrink);
  const double centre = patch.centre().phi / degree;
  std::vector<PatchLine> lines;
  for (const double longitude : multiples(step, centre - reach + 1e-6 * step, centre + reach)) {
    std::vector<SkyPoint> points;
    for (int i = 0; i <= n_points; ++i) {
      const double place = latitude + 2 * size * (2.0 * i / n_points - 1);
      points.push_back({(90 - std::clamp(place, -90.0, 90.0)) * degree, longitude * degree});
    }
    lines.push_back({longitude, pieces_of(patch, points)});
  }
  return lines;
}

/// Degrees without digits of rounding.
std::string clean_degrees(double value) { return degrees(std::round(value * 1000) / 1000 + 0.0); }

void draw_patch_graticule(const Canvas& canvas, const SkyLayout& layout) {
  cairo_t* cairo = canvas.cairo();
  const std::vector<PatchLine> parallels = parallels_of(*layout.patch);
  const std::vector<PatchLine> meridians = meridians_of(*layout.patch);
  cairo_save(cairo);
  outline_path(canvas, layout);
  cairo_clip(cairo);
  for (const auto* lines : {&parallels, &meridians}) {
    for (const PatchLine& line : *lines) stroke_pieces(canvas, layout, line.pieces);
  }
  cairo_restore(cairo);
  TextStyle style{.size = 19 * layout.text, .horizontal = HorizontalAlign::right};
  for (const PatchLine& line : parallels) {
    for (const std::vector<PlanePoint>& piece : line.pieces) {
      at_crossing(piece, x_of, y_of, [&](double y) {
        canvas.text(layout.sky_left - 12 * layout.text, layout.y({-1, y}),
                    clean_degrees(line.degrees), style);
      });
    }
  }
  style.horizontal = HorizontalAlign::centre;
  style.vertical = VerticalAlign::top;
  for (const PatchLine& line : meridians) {
    const double turned = std::fmod(std::fmod(line.degrees, 360) + 360, 360);
    for (const std::vector<PlanePoint>& piece : line.pieces) {
      at_crossing(piece, y_of, x_of, [&](double x) {
        canvas.text(layout.x({x, -1}), layout.sky_top + layout.sky.height + 14 * layout.text,
                    clean_degrees(turned), style);
      });
    }
  }
}

}  // namespace

void outline_path(const Canvas& canvas, const SkyLayout& layout) {
  if (!layout.patch) return ellipse_path(canvas, layout);
  cairo_new_path(canvas.cairo());
  cairo_rectangle(canvas.cairo(), layout.sky_left, layout.sky_top, layout.sky.width,
                  layout.sky.height);
}

void draw_graticule(const Canvas& canvas, const SkyLayout& layout) {
  cairo_t* cairo = canvas.cairo();
  cairo_new_path(cairo);
  // Medium grey is visible on dark and on light maps.
  cairo_set_line_width(cairo, 1.3 * layout.scale);
  canvas.set_colour({0.5, 0.5, 0.5}, 0.75);
  if (layout.patch) {
    draw_patch_graticule(canvas, layout);
  } else {
    stroke_graticule(canvas, layout);
    if (layout.has_degrees()) label_graticule(canvas, layout);
  }
  canvas.set_colour(line_colour);
  cairo_set_line_width(cairo, 1.6 * layout.scale);
  outline_path(canvas, layout);
  cairo_stroke(cairo);
}

}  // namespace ringweave::detail::inline app
