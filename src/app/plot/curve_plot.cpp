// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/curve_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "app/plot/canvas.hpp"
#include "app/plot/colour_map.hpp"
#include "app/plot/curve_frame.hpp"
#include "app/plot/curve_legend.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Cuts drawings at a frame.
class Clip {
 public:
  Clip(const Canvas& canvas, const CurveFrame& frame) : cairo_(canvas.cairo()) {
    cairo_save(cairo_);
    cairo_rectangle(cairo_, frame.x.begin, frame.y.end, frame.x.end - frame.x.begin,
                    frame.y.begin - frame.y.end);
    cairo_clip(cairo_);
  }
  ~Clip() { cairo_restore(cairo_); }
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

 private:
  cairo_t* cairo_;
};

/// Returns a place within the range of Cairo's fixed-point coordinates, which wrap around.
double within_cairo(double place) { return std::clamp(place, -1e5, 1e5); }

/// The path of the values of one sign, 1 or -1.
void curve_path(const Canvas& canvas, const CurveFrame& frame, const Curve& curve, double sign) {
  cairo_new_path(canvas.cairo());
  bool pen_down = false;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const bool shown = frame.x.shows(curve.x[i]) && frame.y.shows(sign * curve.y[i]);
    if (shown) {
      const double x = within_cairo(frame.x.place(curve.x[i]));
      const double y = within_cairo(frame.y.place(sign * curve.y[i]));
      pen_down ? cairo_line_to(canvas.cairo(), x, y) : cairo_move_to(canvas.cairo(), x, y);
    }
    pen_down = shown;
  }
}

/// Fills the stretch [begin, end) of a band. An edge without a place on the axis ends at its
/// bottom.
void fill_band(const Canvas& canvas, const CurveFrame& frame, const CurveBand& band,
               std::size_t begin, std::size_t end) {
  cairo_t* cairo = canvas.cairo();
  const auto place = [&](double value) {
    return frame.y.shows(value) ? within_cairo(frame.y.place(value)) : frame.y.begin;
  };
  cairo_new_path(cairo);
  for (std::size_t i = begin; i < end; ++i)
    cairo_line_to(cairo, within_cairo(frame.x.place(band.x[i])),
                  place(band.middle[i] + band.half_width[i]));
  for (std::size_t i = end; i-- > begin;)
    cairo_line_to(cairo, within_cairo(frame.x.place(band.x[i])),
                  place(band.middle[i] - band.half_width[i]));
  cairo_close_path(cairo);
  canvas.set_colour(curve_colour(band.colour), 0.2);
  cairo_fill(cairo);
}

void draw_bands(const Canvas& canvas, const CurveFrame& frame,
                const std::vector<CurveBand>& bands) {
  const Clip clip(canvas, frame);
  for (const CurveBand& band : bands) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= band.x.size(); ++i) {
      const bool shown = i < band.x.size() && frame.x.shows(band.x[i]) && band.half_width[i] > 0;
      if (shown) continue;
      if (i > begin + 1) fill_band(canvas, frame, band, begin, i);
      begin = i + 1;
    }
  }
}

void draw_all(const Canvas& canvas, const CurveFrame& frame, const std::vector<Curve>& curves) {
  const Clip clip(canvas, frame);
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
}

/// One standard deviation and 0, behind the residuals.
void draw_standard_deviation(const Canvas& canvas, const CurveFrame& frame) {
  cairo_t* cairo = canvas.cairo();
  cairo_rectangle(cairo, frame.x.begin, frame.y.place(1), frame.x.end - frame.x.begin,
                  frame.y.place(-1) - frame.y.place(1));
  canvas.set_colour({0.45, 0.45, 0.45}, 0.25);
  cairo_fill(cairo);
  cairo_move_to(cairo, frame.x.begin, frame.y.place(0));
  cairo_line_to(cairo, frame.x.end, frame.y.place(0));
  canvas.set_colour({0.13, 0.13, 0.13});
  cairo_set_line_width(cairo, 1.4 * frame.scale);
  cairo_stroke(cairo);
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
                 const PictureFile& file, const CurveComparison& comparison) {
  check(picture, curves);
  check(picture, comparison.residuals);
  CurveFrame frame = fit_frame(picture, curves);
  const bool has_residuals = !comparison.residuals.empty();
  CurveFrame below = fit_residuals(frame, comparison.residuals);
  Canvas canvas(picture.width, picture.height, file);
  const double text = frame.text;
  const double bottom = picture.height - 108 * text;
  const double top = (picture.title.empty() ? 48 : 84) * text;
  frame.x.end = picture.width - 44 * text;
  frame.y.begin = has_residuals ? bottom - 0.28 * (bottom - top) : bottom;
  frame.y.end = top;
  below.y.begin = bottom;
  below.y.end = frame.y.begin + 16 * text;
  fit_ticks(frame);
  fit_ticks(below);
  frame.x.begin = 84 * text + std::max(label_width(canvas, frame), label_width(canvas, below));
  fit_ticks(frame);
  const std::string x_title = "Multipole \u2113";
  draw_grid(canvas, frame);
  draw_bands(canvas, frame, comparison.bands);
  draw_all(canvas, frame, curves);
  draw_axes(canvas, frame,
            {has_residuals ? "" : x_title,
             "\u2113(\u2113+1) C_{\u2113} / 2\u03c0" +
                 (picture.unit.empty() ? "" : "  [" + pretty_unit(picture.unit) + "]")});
  canvas.text_within(frame.x.end - frame.x.begin, (frame.x.begin + frame.x.end) / 2, 44 * text,
                     picture.title, {.size = 31 * text});
  draw_legend(canvas, frame, curves, comparison.bands.empty() ? "" : comparison.band_name);
  if (has_residuals) {
    below.x = frame.x;
    draw_grid(canvas, below);
    draw_standard_deviation(canvas, below);
    draw_all(canvas, below, comparison.residuals);
    draw_axes(canvas, below, {x_title, comparison.residual_title});
  }
  canvas.write();
}

}  // namespace ringweave::detail::inline app
