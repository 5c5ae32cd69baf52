// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/curve_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the smallest and largest value over the points that have a place on both axes.
template <class Value>
PlotAxis extent_of(const std::vector<Curve>& curves, const Value& value) {
  PlotAxis axis{.low = std::numeric_limits<double>::infinity(), .high = 0};
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!axis.shows(curve.x[i]) || !axis.shows(shown_value(curve, i))) continue;
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

void line(const Canvas& canvas, double x0, double y0, double x1, double y1) {
  cairo_move_to(canvas.cairo(), x0, y0);
  cairo_line_to(canvas.cairo(), x1, y1);
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

}  // namespace

bool PlotAxis::shows(double value) const {
  return std::isfinite(value) && (scale == AxisScale::linear || value > 0);
}

double PlotAxis::place(double value) const {
  const double part = scale == AxisScale::linear ? (value - low) / (high - low)
                                                 : std::log(value / low) / std::log(high / low);
  return begin + (end - begin) * part;
}

Ticks PlotAxis::ticks() const {
  return scale == AxisScale::linear ? linear_ticks(low, high, std::min(most_ticks, 7))
                                    : logarithmic_ticks(low, high, most_ticks);
}

std::vector<double> PlotAxis::minor_places() const {
  std::vector<double> places;
  if (scale == AxisScale::linear || std::log10(high / low) > 9) return places;
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

double shown_value(const Curve& curve, std::size_t i) {
  return curve.is_signed ? std::abs(curve.y[i]) : curve.y[i];
}

CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves) {
  CurveFrame frame;
  frame.scale = std::min(picture.width / 1600.0, picture.height / 1000.0);
  frame.text = std::max(frame.scale, 0.42);
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

CurveFrame fit_residuals(const CurveFrame& above, const std::vector<Curve>& residuals) {
  CurveFrame frame = above;
  frame.y.scale = AxisScale::linear;
  std::vector<double> sizes;
  for (const Curve& curve : residuals) {
    for (const double value : curve.y) {
      if (std::isfinite(value)) sizes.push_back(std::abs(value));
    }
  }
  double end = 3;
  if (!sizes.empty()) {
    const auto place = sizes.begin() + (ssize64(sizes) - 1) * 99 / 100;
    std::nth_element(sizes.begin(), place, sizes.end());
    end = std::max(end, 1.15 * *place);
  }
  frame.y.low = -end;
  frame.y.high = end;
  return frame;
}

void fit_ticks(CurveFrame& frame) {
  const auto most = [](const PlotAxis& axis, double room) {
    return static_cast<int>(std::clamp(std::abs(axis.end - axis.begin) / room, 2.0, 9.0));
  };
  frame.x.most_ticks = most(frame.x, 85 * frame.text);
  frame.y.most_ticks = most(frame.y, 36 * frame.text);
}

double label_width(const Canvas& canvas, const CurveFrame& frame) {
  double width = 0;
  for (const std::string& label : frame.y.ticks().labels)
    width = std::max(width, canvas.markup_width(label, 23 * frame.text));
  return width;
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

void draw_axes(const Canvas& canvas, const CurveFrame& frame, const AxisTitles& titles) {
  const double scale = frame.scale, text = frame.text;
  const Ticks x_ticks = frame.x.ticks(), y_ticks = frame.y.ticks();
  canvas.set_colour(line_colour);
  cairo_set_line_width(canvas.cairo(), 1.4 * scale);
  cairo_rectangle(canvas.cairo(), frame.x.begin, frame.y.end, frame.x.end - frame.x.begin,
                  frame.y.begin - frame.y.end);
  cairo_stroke(canvas.cairo());
  draw_marks(canvas, frame, x_ticks.places, y_ticks.places, 10 * scale);
  draw_marks(canvas, frame, frame.x.minor_places(), frame.y.minor_places(), 5 * scale);

  TextStyle style{.size = 23 * text, .vertical = VerticalAlign::top};
  for (std::size_t i = 0; i < x_ticks.places.size() && !titles.x.empty(); ++i) {
    canvas.markup(frame.x.place(x_ticks.places[i]), frame.y.begin + 16 * text, x_ticks.labels[i],
                  style);
  }
  style.vertical = VerticalAlign::middle;
  style.horizontal = HorizontalAlign::right;
  for (std::size_t i = 0; i < y_ticks.places.size(); ++i) {
    canvas.markup(frame.x.begin - 12 * text, frame.y.place(y_ticks.places[i]), y_ticks.labels[i],
                  style);
  }
  canvas.markup((frame.x.begin + frame.x.end) / 2, frame.y.begin + 72 * text, titles.x,
                {.size = 27 * text});
  // Shrunk to the length of the axis, or left out where that would not be legible.
  constexpr double least_size = 7;
  const double length = frame.y.begin - frame.y.end;
  const double size =
      std::min(27 * text, 27 * text * length / canvas.markup_width(titles.y, 27 * text));
  if (size < least_size) return;
  canvas.markup(38 * text, (frame.y.begin + frame.y.end) / 2, titles.y,
                {.size = size, .angle_degrees = 90});
}

}  // namespace ringweave::detail::inline app
