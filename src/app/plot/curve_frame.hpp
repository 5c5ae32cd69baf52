// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/plot/canvas.hpp"
#include "app/plot/curve_plot.hpp"
#include "app/plot/ticks.hpp"

namespace ringweave::detail::inline app {

enum class AxisScale { logarithmic, linear };

/// An axis of a plot of curves: values from low to high on pixels begin to end.
struct PlotAxis {
  double low = 1;
  double high = 10;
  double begin = 0;
  double end = 1;
  AxisScale scale = AxisScale::logarithmic;
  int most_ticks = 9;  ///< with labels

  /// Returns true if a value has a place, maybe beyond the ends.
  bool shows(double value) const;
  double place(double value) const;
  Ticks ticks() const;
  /// Returns short marks between the powers of ten.
  std::vector<double> minor_places() const;
};

/// Both axes of a plot of curves.
struct CurveFrame {
  double scale = 1;  ///< for lines; 1 at 1600 x 1000 pixels
  double text = 1;   ///< for fonts and the space around them; not below a legible size
  PlotAxis x;
  PlotAxis y;
};

/// Titles of axes. Without that of x, its numbers are left out too.
struct AxisTitles {
  std::string x;
  std::string y;
};

/// Returns the value that a curve shows at place i: of a signed curve the absolute value.
double shown_value(const Curve& curve, std::size_t i);

/// Computes the ranges of two logarithmic axes. The caller sets the pixels. Error  UsageError when
/// nothing can be shown.
CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves);

/// The frame of residuals of curves, with the x axis of those: linear, symmetric about 0, at least
/// to 3, to where 99 of 100 values are.
CurveFrame fit_residuals(const CurveFrame& above, const std::vector<Curve>& residuals);

/// Sets how many labels the axes have room for.
void fit_ticks(CurveFrame& frame);

/// Returns the width of the longest number of the y axis.
double label_width(const Canvas& canvas, const CurveFrame& frame);

void draw_grid(const Canvas& canvas, const CurveFrame& frame);
void draw_axes(const Canvas& canvas, const CurveFrame& frame, const AxisTitles& titles);

}  // namespace ringweave::detail::inline app
