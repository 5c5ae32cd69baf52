// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/curve_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the smallest and largest value over the points that have a place on both axes.
PlotAxis extent_of(const std::vector<Curve>& curves, const std::vector<double> Curve::*values) {
  PlotAxis axis{.low = std::numeric_limits<double>::infinity(), .high = 0};
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      if (!is_shown(curve.x[i]) || !is_shown(curve.y[i])) continue;
      axis.low = std::min(axis.low, (curve.*values)[i]);
      axis.high = std::max(axis.high, (curve.*values)[i]);
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

}  // namespace

std::vector<double> PlotAxis::minor_places() const {
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

CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves) {
  CurveFrame frame;
  frame.scale = std::min(picture.width / 1600.0, picture.height / 1000.0);
  frame.x = extent_of(curves, &Curve::x);
  frame.y = extent_of(curves, &Curve::y);
  if (frame.x.low > frame.x.high) {
    throw UsageError("no curve has a point that these axes can show");
  }
  if (frame.x.low == frame.x.high) add_margin(frame.x);
  add_margin(frame.y);
  require_range(frame.x, "x");
  require_range(frame.y, "y");
  return frame;
}

}  // namespace ringweave::detail::inline app
