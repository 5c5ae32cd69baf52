// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <vector>

#include "app/plot/curve_plot.hpp"
#include "app/plot/ticks.hpp"

namespace ringweave::detail::inline app {

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
  std::vector<double> minor_places() const;
};

/// Both axes of a plot of curves.
struct CurveFrame {
  double scale = 1;  ///< for fonts and lines
  PlotAxis x;
  PlotAxis y;
};

/// Returns whether a value has a place on a logarithmic axis.
inline bool is_shown(double value) { return std::isfinite(value) && value > 0; }

/// Computes the ranges of both axes. The caller sets the pixels. Error  UsageError when nothing can
/// be shown.
CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves);

}  // namespace ringweave::detail::inline app
