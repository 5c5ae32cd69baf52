// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/curve_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_map.hpp"
#include "app/plot/ticks.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr Colour line_colour{0.13, 0.13, 0.13};

/// One logarithmic axis of a plot of curves: values from low to high on pixels begin to end.
struct PlotAxis {
  double low = 1;
  double high = 10;
  double begin = 0;
  double end = 1;

  double place(double value) const {
    return begin + (end - begin) * std::log(value / low) / std::log(high / low);
  }
  Ticks ticks() const { return logarithmic_ticks(low, high, 9); }
  /// Returns short marks between the powers of ten.
  std::vector<double> minor_places() const {
    std::vector<double> places;
    if (std::log10(high / low) > 9) return places;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    for (int exponent = first; exponent <= last; ++exponent) {
      for (int digit = 1; digit <= 9; ++digit) {
        const double place = digit * std::pow(10.0, exponent);
        if (place >= low && place <= high) places.push_back(place);
      }
    }
    return places;
  }
};

/// Both axes of a plot of curves.
struct CurveFrame {
  double scale = 1;  ///< for fonts and lines
  PlotAxis x;
  PlotAxis y;
};

/// Returns whether a value has a place on a logarithmic axis.
bool is_shown(double value) { return std::isfinite(value) && value > 0; }

/// What a curve shows of a value.
double shown_value(const Curve& curve, std::size_t i) {
  return curve.is_signed ? std::abs(curve.y[i]) : curve.y[i];
}

/// Returns the smallest and largest value over the points that have a place on both axes.
template <class Value>
PlotAxis extent_of(const std::vector<Curve>& curves, const Value& value) {
  PlotAxis axis{.low = std::numeric_limits<double>::infinity(), .high = 0};
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!is_shown(curve.x[i]) || !is_shown(shown_value(curve, i))) continue;
      axis.low = std::min(axis.low, value(curve, i));
      axis.high = std::max(axis.high, value(curve, i));
    }
  }
  return axis;
}

/// Adds a margin around the values of an axis.
void add_margin(PlotAxis& axis) {
  if (axis.low == axis.high) {
    axis.low *= 0.5;
    axis.high *= 1.5;
    return;
  }
  // Rounding noise near zero must not compress the relevant values into a line.
  axis.low = std::max(axis.low, 1e-12 * axis.high);
  const double factor = std::pow(axis.high / axis.low, 0.05);
  axis.low /= factor;
  axis.high *= factor;
}

void require_range(const PlotAxis& axis, const char* name) {
  if (axis.low < axis.high && axis.low > 0 && std::isfinite(axis.high)) return;
  throw UsageError(
      fmt::format("the {} axis would run from {:g} to {:g}", name, axis.low, axis.high));
}

/// Computes the ranges of both axes. The caller sets the pixels. Error  UsageError when nothing can
/// be shown.
CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves) {
  CurveFrame frame;
  frame.scale = std::min(picture.width / 1600.0, picture.height / 1000.0);
  frame.x = extent_of(curves, [](const Curve& curve, std::size_t i) { return curve.x[i]; });
  frame.y = extent_of(curves, shown_value);
  if (frame.x.low > frame.x.high) {
    throw UsageError("no curve has a point that these axes can show");
  }
  if (frame.x.low == frame.x.high) add_margin(frame.x);
  add_margin(frame.y);
  require_range(frame.x, "x");
  require_range(frame.y, "y");
  return frame;
}

double line_width(CurveStyle style) {
  return style == CurveStyle::line ? 2.6 : style == CurveStyle::thin ? 1.2 : 3.0;
}

void line(const Canvas& canvas, double x0, double y0, double x1, double y1) {
  cairo_move_to(canvas.cairo(), x0, y0);
  cairo_line_to(canvas.cairo(), x1, y1);
}

void draw_grid(const Canvas& canvas, const CurveFrame& frame) {
  canvas.set_colour({0.88, 0.88, 0.88});
  cairo_set_line_width(canvas.cairo(), 1.1 * frame.scale);
  for (const double value : frame.x.ticks().places) {
    line(canvas, frame.x.place(value), frame.y.begin, frame.x.place(value), frame.y.end);
  }
  for (const double value : frame.y.ticks().places) {
    line(canvas, frame.x.begin, frame.y.place(value), frame.x.end, frame.y.place(value));
  }
  cairo_stroke(canvas.cairo());
}

void draw_marks(const Canvas& canvas, const CurveFrame& frame, const std::vector<double>& x_places,
                const std::vector<double>& y_places, double length) {
  for (const double value : x_places) {
    const double x = frame.x.place(value);
    line(canvas, x, frame.y.begin, x, frame.y.begin - length);
    line(canvas, x, frame.y.end, x, frame.y.end + length);
  }
  for (const double value : y_places) {
    const double y = frame.y.place(value);
    line(canvas, frame.x.begin, y, frame.x.begin + length, y);
    line(canvas, frame.x.end, y, frame.x.end - length, y);
  }
  cairo_stroke(canvas.cairo());
}

void draw_axes(const Canvas& canvas, const CurveFrame& frame, const CurvePicture& picture) {
  const double scale = frame.scale;
  const Ticks x_ticks = frame.x.ticks(), y_ticks = frame.y.ticks();
  canvas.set_colour(line_colour);
  cairo_set_line_width(canvas.cairo(), 1.4 * scale);
  cairo_rectangle(canvas.cairo(), frame.x.begin, frame.y.end, frame.x.end - frame.x.begin,
                  frame.y.begin - frame.y.end);
  cairo_stroke(canvas.cairo());
  draw_marks(canvas, frame, x_ticks.places, y_ticks.places, 10 * scale);
  draw_marks(canvas, frame, frame.x.minor_places(), frame.y.minor_places(), 5 * scale);

  TextStyle style{.size = 23 * scale, .vertical = VerticalAlign::top};
  for (std::size_t i = 0; i < x_ticks.places.size(); ++i) {
    canvas.markup(frame.x.place(x_ticks.places[i]), frame.y.begin + 16 * scale, x_ticks.labels[i],
                  style);
  }
  style.vertical = VerticalAlign::middle;
  style.horizontal = HorizontalAlign::right;
  for (std::size_t i = 0; i < y_ticks.places.size(); ++i) {
    canvas.markup(frame.x.begin - 12 * scale, frame.y.place(y_ticks.places[i]), y_ticks.labels[i],
                  style);
  }
  canvas.markup((frame.x.begin + frame.x.end) / 2, frame.y.begin + 72 * scale, "Multipole \u2113",
                {.size = 27 * scale});
  canvas.markup(38 * scale, (frame.y.begin + frame.y.end) / 2,
                "\u2113(\u2113+1) C_{\u2113} / 2\u03c0" +
                    (picture.unit.empty() ? "" : "  [" + pretty_unit(picture.unit) + "]"),
                {.size = 27 * scale, .angle_degrees = 90});
  canvas.text_within(frame.x.end - frame.x.begin, (frame.x.begin + frame.x.end) / 2, 44 * scale,
                     picture.title, {.size = 31 * scale});
}

/// The path of the values of one sign, 1 or -1.
void curve_path(const Canvas& canvas, const CurveFrame& frame, const Curve& curve, double sign) {
  cairo_new_path(canvas.cairo());
  bool pen_down = false;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const bool shown = is_shown(curve.x[i]) && is_shown(sign * curve.y[i]);
    if (shown) {
      // Clamped, because Cairo's fixed-point coordinates would wrap around.
      const double x = std::clamp(frame.x.place(curve.x[i]), -1e5, 1e5);
      const double y = std::clamp(frame.y.place(sign * curve.y[i]), -1e5, 1e5);
      pen_down ? cairo_line_to(canvas.cairo(), x, y) : cairo_move_to(canvas.cairo(), x, y);
    }
    pen_down = shown;
  }
}

Colour colour_of(const Curve& curve) {
  Colour colour = curve_colour(curve.colour);
  if (curve.style == CurveStyle::dashed) {
    // Darker, to be visible over a measured curve of the same colour.
    colour = {0.55 * colour.red, 0.55 * colour.green, 0.55 * colour.blue};
  }
  return colour;
}

/// Strokes the current path in the style of the curve, dotted for its negative values.
void stroke(const Canvas& canvas, const Curve& curve, double scale, double sign = 1) {
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

void draw_all(const Canvas& canvas, const CurveFrame& frame, const std::vector<Curve>& curves) {
  cairo_t* cairo = canvas.cairo();
  cairo_save(cairo);
  cairo_rectangle(cairo, frame.x.begin, frame.y.end, frame.x.end - frame.x.begin,
                  frame.y.begin - frame.y.end);
  cairo_clip(cairo);
  // Measurements first, so that theory is drawn over them.
  for (const bool theory : {false, true}) {
    for (const Curve& curve : curves) {
      if (theory != (curve.style != CurveStyle::thin)) continue;
      for (const double sign : {1.0, -1.0}) {
        if (sign < 0 && !curve.is_signed) continue;
        curve_path(canvas, frame, curve, sign);
        stroke(canvas, curve, frame.scale, sign);
      }
    }
  }
  cairo_restore(cairo);
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
      const bool shown = is_shown(curve.x[i]) && is_shown(shown_value(curve, i));
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

void draw_legend(const Canvas& canvas, const CurveFrame& frame, const std::vector<Curve>& curves) {
  const double scale = frame.scale, size = 23 * scale, step = 36 * scale, sample = 56 * scale;
  double text_width = 0;
  int entries = 0;
  for (const Curve& curve : curves) {
    if (curve.name.empty()) continue;
    ++entries;
    text_width = std::max(text_width, canvas.text_width(curve.name, size));
  }
  if (entries == 0) return;
  const double pad = 16 * scale;
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
    line(canvas, x, y, x + sample, y);
    stroke(canvas, curve, scale);
    canvas.text(x + sample + pad, y, curve.name,
                {.size = size, .horizontal = HorizontalAlign::left});
    y += step;
  }
}

void check(const CurvePicture& picture, const std::vector<Curve>& curves) {
  const auto [least, most] = std::minmax(picture.width, picture.height);
  if (least < 200 || most > 20000) {
    throw UsageError(fmt::format("a plot cannot have {} x {} pixels; choose sides of 200..20000",
                                 picture.width, picture.height));
  }
  for (const Curve& curve : curves) {
    if (curve.x.size() != curve.y.size()) {
      throw UsageError(fmt::format("curve \"{}\" has {} places and {} values", curve.name,
                                   curve.x.size(), curve.y.size()));
    }
  }
}

}  // namespace

Curve spectrum_curve(const std::string& name, std::span<const double> cl, CurveStyle style,
                     int colour) {
  Curve curve{.name = name, .style = style, .colour = colour};
  for (std::size_t l = 2; l < cl.size(); ++l) {
    const double degree = static_cast<double>(l);
    curve.x.push_back(degree);
    curve.y.push_back(degree * (degree + 1) * cl[l] / (2 * std::numbers::pi));
  }
  return curve;
}

void draw_curves(const CurvePicture& picture, const std::vector<Curve>& curves,
                 const PictureFile& file) {
  check(picture, curves);
  CurveFrame frame = fit_frame(picture, curves);
  const Canvas canvas(picture.width, picture.height, file);
  const double scale = frame.scale;
  double label_width = 0;
  for (const std::string& label : frame.y.ticks().labels) {
    label_width = std::max(label_width, canvas.markup_width(label, 23 * scale));
  }
  frame.x.begin = label_width + 84 * scale;
  frame.x.end = picture.width - 44 * scale;
  frame.y.begin = picture.height - 108 * scale;
  frame.y.end = (picture.title.empty() ? 48 : 84) * scale;
  draw_grid(canvas, frame);
  draw_all(canvas, frame, curves);
  draw_axes(canvas, frame, picture);
  draw_legend(canvas, frame, curves);
  canvas.write();
}

}  // namespace ringweave::detail::inline app
