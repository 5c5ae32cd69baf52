// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/colour_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/plot/ticks.hpp"

namespace ringweave::detail::inline app {
namespace {

int pixels(const ColourBar& bar, double at_1600) {
  return static_cast<int>(std::lround(at_1600 * bar.text));
}

void bar_path(const Canvas& canvas, const ColourBar& bar, const ValueColours& colours) {
  cairo_t* cairo = canvas.cairo();
  const double left = bar.left, right = left + bar.width;
  const double top = bar.top, bottom = top + bar.height;
  const double tip = 0.9 * bar.height;
  cairo_new_path(cairo);
  cairo_move_to(cairo, left, top);
  cairo_line_to(cairo, right, top);
  if (colours.has_values_above()) cairo_line_to(cairo, right + tip, (top + bottom) / 2);
  cairo_line_to(cairo, right, bottom);
  cairo_line_to(cairo, left, bottom);
  if (colours.has_values_below()) cairo_line_to(cairo, left - tip, (top + bottom) / 2);
  cairo_close_path(cairo);
}

void fill_bar(const Canvas& canvas, const ColourBar& bar, const ValueColours& colours) {
  cairo_t* cairo = canvas.cairo();
  cairo_pattern_t* gradient = cairo_pattern_create_linear(bar.left, 0, bar.left + bar.width, 0);
  constexpr int stops = 256;
  for (int i = 0; i <= stops; ++i) {
    const Colour colour = colours.map()(static_cast<double>(i) / stops);
    cairo_pattern_add_color_stop_rgb(gradient, static_cast<double>(i) / stops, colour.red,
                                     colour.green, colour.blue);
  }
  bar_path(canvas, bar, colours);
  cairo_set_source(cairo, gradient);
  cairo_fill_preserve(cairo);
  cairo_pattern_destroy(gradient);
  canvas.set_colour(line_colour);
  cairo_set_line_width(cairo, 1.4 * bar.line);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
  cairo_stroke(cairo);
}

/// Returns as many marks as have room for their labels.
Ticks ticks_with_room(const Canvas& canvas, const ColourBar& bar, const ColourScale& scale,
                      double size) {
  for (int most = 9; true; --most) {
    Ticks ticks = scale.ticks(most);
    bool has_room = true;
    for (std::size_t i = 1; i < ticks.places.size(); ++i) {
      const double distance =
          bar.width * (scale.place(ticks.places[i]) - scale.place(ticks.places[i - 1]));
      const double needed = (canvas.markup_width(ticks.labels[i], size) +
                             canvas.markup_width(ticks.labels[i - 1], size)) /
                                2 +
                            0.5 * size;
      has_room = has_room && distance >= needed;
    }
    if (has_room || most == 2) return ticks;
  }
}

void label_bar(const Canvas& canvas, const ColourBar& bar, const ColourScale& scale,
               const std::string& unit) {
  cairo_t* cairo = canvas.cairo();
  const double text = bar.text;
  TextStyle style{.size = 22 * text, .vertical = VerticalAlign::top};
  const Ticks ticks = ticks_with_room(canvas, bar, scale, style.size);
  const double bottom = bar.top + bar.height;
  for (std::size_t i = 0; i < ticks.places.size(); ++i) {
    const double x = bar.left + bar.width * scale.place(ticks.places[i]);
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
  if (!bar.has_line_below) {
    style.horizontal = HorizontalAlign::left;
    canvas.markup(bar.left + bar.width + 46 * text, bottom + 16 * text,
                  power.empty() ? "" : "\u00d7 " + power, style);
    return;
  }
  style.size = 24 * text;
  canvas.markup(bar.picture_width / 2.0, bottom + 58 * text,
                unit.empty() && !power.empty()
                    ? "\u00d7 " + power
                    : power + (power.empty() ? "" : " ") + pretty_unit(unit),
                style);
}

}  // namespace

int ColourBar::bottom() const {
  return static_cast<int>(top + height) + pixels(*this, has_line_below ? 104 : 62);
}

ColourBar bar_below(int picture_width, int top, const std::string& unit) {
  ColourBar bar;
  bar.line = picture_width / 1600.0;
  bar.text = std::max(bar.line, 0.5);
  bar.picture_width = picture_width;
  bar.width = std::min<double>(pixels(bar, 820), 0.75 * picture_width);
  bar.height = pixels(bar, 26);
  bar.left = (picture_width - bar.width) / 2;
  bar.top = top;
  bar.has_line_below = !unit.empty() || bar.text > bar.line;
  return bar;
}

void draw_bar(const Canvas& canvas, const ColourBar& bar, const ValueColours& colours,
              const std::string& unit) {
  fill_bar(canvas, bar, colours);
  label_bar(canvas, bar, colours.scale(), unit);
}

}  // namespace ringweave::detail::inline app
