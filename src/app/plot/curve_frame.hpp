// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <vector>

#include "app/plot/curve_plot.hpp"
#include "app/plot/ticks.hpp"

namespace ringweave::detail::inline app {

/// One axis of a plot of curves: values from low to high on pixels begin to end.
struct PlotAxis {
  AxisScale scale = AxisScale::linear;
  double low = 0;
  double high = 1;
  double begin = 0;
  double end = 1;

  bool shows(double value) const {
    return std::isfinite(value) && (scale == AxisScale::linear || value > 0);
  }
  double place(double value) const {
    const double part = scale == AxisScale::linear ? (value - low) / (high - low)
                                                   : std::log(value / low) / std::log(high / low);
    return begin + (end - begin) * part;
  }
  Ticks ticks() const;
  /// Returns short marks between the powers of ten; none on a linear axis.
  std::vector<double> minor_places() const;
};

/// Both axes of a plot of curves.
struct CurveFrame {
  double scale = 1;  ///< for fonts and lines
  PlotAxis x;
  PlotAxis y;
};

/// Computes the ranges of both axes: those given, otherwise those of the curves. The caller sets
/// the pixels. Error  UsageError when nothing can be shown or a range is empty.
CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves);

}  // namespace ringweave::detail::inline app
