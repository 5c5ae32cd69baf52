// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/curve_legend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "app/plot/colour_map.hpp"

namespace ringweave::detail::inline app {
namespace {

double line_width(CurveStyle style) {
  return style == CurveStyle::line ? 2.6 : style == CurveStyle::thin ? 1.2 : 3.0;
}

Colour colour_of(const Curve& curve) {
  Colour colour = curve_colour(curve.colour);
  if (curve.style == CurveStyle::dashed) {
    // Darker, to be visible over a measured curve of the same colour.
    colour = {0.55 * colour.red, 0.55 * colour.green, 0.55 * colour.blue};
  }
  return colour;
}

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  bool holds(double x, double y) const {
    return x >= left && x <= left + width && y >= top && y <= top + height;
  }
};

struct Place {
  double x = 0;
  double y = 0;
};

/// Returns points along the curves, dense enough that no box fits between them.
std::vector<Place> places_along(const CurveFrame& frame, const std::vector<Curve>& curves) {
  std::vector<Place> places;
  const double step = 12 * frame.scale;
  for (const Curve& curve : curves) {
    bool pen_down = false;
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      const bool shown = frame.x.shows(curve.x[i]) && frame.y.shows(shown_value(curve, i));
      if (shown) {
        const Place to{frame.x.place(curve.x[i]), frame.y.place(shown_value(curve, i))};
        const Place from = pen_down ? places.back() : to;
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        const int parts = static_cast<int>(std::clamp(length / step, 1.0, 200.0));
        for (int part = 1; part <= parts; ++part) {
          const double share = static_cast<double>(part) / parts;
          places.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
        }
      }
      pen_down = shown;
    }
  }
  return places;
}

/// Returns the box that hides least of the curves; among equals the one nearest to the upper right.
Box emptiest_box(const CurveFrame& frame, const std::vector<Curve>& curves, double width,
                 double height) {
  constexpr int lattice = 8;
  const std::vector<Place> places = places_along(frame, curves);
  const double gap = 20 * frame.scale;
  const double right = frame.x.end - gap - width, left = frame.x.begin + gap;
  const double top = frame.y.end + gap, bottom = frame.y.begin - gap - height;
  Box best;
  std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
  for (int i = 0; i <= lattice; ++i) {
    for (int j = 0; j <= lattice; ++j) {
      const Box box{right + (left - right) * j / lattice, top + (bottom - top) * i / lattice, width,
                    height};
      const std::ptrdiff_t hidden =
          std::count_if(places.begin(), places.end(),
                        [&](const Place& place) { return box.holds(place.x, place.y); });
      if (hidden >= fewest) continue;
      fewest = hidden;
      best = box;
    }
  }
  return best;
}

}  // namespace

void stroke(const Canvas& canvas, const Curve& curve, double scale, double sign) {
  cairo_t* cairo = canvas.cairo();
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  const std::array<double, 2> dashes{12 * scale, 7 * scale};
  const std::array<double, 2> dots{4 * scale, 5 * scale};
  if (sign < 0) cairo_set_dash(cairo, dots.data(), 2, 0);
  if (curve.style == CurveStyle::dashed) cairo_set_dash(cairo, dashes.data(), 2, 0);
  canvas.set_colour(colour_of(curve), curve.style == CurveStyle::thin ? 0.7 : 1.0);
  cairo_set_line_width(cairo, line_width(curve.style) * scale);
  cairo_stroke(cairo);
  cairo_set_dash(cairo, nullptr, 0, 0);
}

void draw_legend(const Canvas& canvas, const CurveFrame& frame, const std::vector<Curve>& curves,
                 const std::string& band) {
  // Smaller than other texts, to hide little of a small plot.
  const double scale = frame.scale, text = std::max(frame.scale, 0.33);
  const double size = 23 * text, step = 36 * text, sample = 56 * text;
  double text_width = band.empty() ? 0 : canvas.text_width(band, size);
  int entries = band.empty() ? 0 : 1;
  for (const Curve& curve : curves) {
    if (curve.name.empty()) continue;
    ++entries;
    text_width = std::max(text_width, canvas.text_width(curve.name, size));
  }
  if (entries == 0) return;
  const double pad = 16 * text;
  const Box box = emptiest_box(frame, curves, text_width + sample + 3 * pad, entries * step + pad);
  cairo_t* cairo = canvas.cairo();
  cairo_rectangle(cairo, box.left, box.top, box.width, box.height);
  cairo_set_source_rgba(cairo, 1, 1, 1, 0.88);
  cairo_fill_preserve(cairo);
  canvas.set_colour({0.8, 0.8, 0.8});
  cairo_set_line_width(cairo, 1.1 * scale);
  cairo_stroke(cairo);
  double y = box.top + pad / 2 + step / 2;
  for (const Curve& curve : curves) {
    if (curve.name.empty()) continue;
    const double x = box.left + pad;
    cairo_move_to(cairo, x, y);
    cairo_line_to(cairo, x + sample, y);
    stroke(canvas, curve, scale);
    canvas.text(x + sample + pad, y, curve.name,
                {.size = size, .horizontal = HorizontalAlign::left});
    y += step;
  }
  if (band.empty()) return;
  cairo_rectangle(cairo, box.left + pad, y - step / 3, sample, 2 * step / 3);
  canvas.set_colour({0.45, 0.45, 0.45}, 0.25);
  cairo_fill(cairo);
  canvas.text(box.left + sample + 2 * pad, y, band,
              {.size = size, .horizontal = HorizontalAlign::left});
}

}  // namespace ringweave::detail::inline app
