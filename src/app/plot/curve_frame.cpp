// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/curve_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr int most_ticks = 9;

/// Returns the smallest and largest value that can be shown, over the points for which `keep`
/// holds.
template <class Keep>
PlotAxis extent_of(const std::vector<Curve>& curves, AxisScale scale,
                   const std::vector<double> Curve::*values, const Keep& keep) {
  PlotAxis axis{.scale = scale,
                .low = std::numeric_limits<double>::infinity(),
                .high = -std::numeric_limits<double>::infinity()};
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
      const double value = (curve.*values)[i];
      if (!axis.shows(value) || !keep(curve, i)) continue;
      axis.low = std::min(axis.low, value);
      axis.high = std::max(axis.high, value);
    }
  }
  return axis;
}

/// Adds a margin around the values of the y axis, and includes zero if it is close.
void add_margin(PlotAxis& axis) {
  if (axis.low == axis.high) {
    const double margin = axis.low == 0 ? 1.0 : 0.5 * std::abs(axis.low);
    axis.low -= margin;
    axis.high += margin;
    return;
  }
  if (axis.scale == AxisScale::logarithmic) {
    // Rounding noise near zero must not compress the relevant values into a line.
    axis.low = std::max(axis.low, 1e-12 * axis.high);
    const double factor = std::pow(axis.high / axis.low, 0.05);
    axis.low /= factor;
    axis.high *= factor;
    return;
  }
  const double margin = 0.06 * (axis.high - axis.low);
  const bool from_zero = axis.low >= 0 && axis.low < 0.3 * axis.high;
  axis.low = from_zero ? 0.0 : axis.low - margin;
  axis.high += margin;
}

void choose_ends(PlotAxis& axis, const std::optional<double>& low,
                 const std::optional<double>& high, const char* name) {
  axis.low = low.value_or(axis.low);
  axis.high = high.value_or(axis.high);
  if (!(axis.low < axis.high) || !std::isfinite(axis.high - axis.low) || !axis.shows(axis.low)) {
    throw UsageError(
        fmt::format("the {} axis would run from {:g} to {:g}; give a range with "
                    "low < high, above 0 on a logarithmic axis",
                    name, axis.low, axis.high));
  }
}

}  // namespace

Ticks PlotAxis::ticks() const {
  return scale == AxisScale::linear ? linear_ticks(low, high, most_ticks)
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

CurveFrame fit_frame(const CurvePicture& picture, const std::vector<Curve>& curves) {
  CurveFrame frame;
  frame.scale = std::min(picture.width / 1600.0, picture.height / 1000.0);
  const auto y_shown = [&](const Curve& curve, std::size_t i) {
    return PlotAxis{.scale = picture.y_scale}.shows(curve.y[i]);
  };
  frame.x = extent_of(curves, picture.x_scale, &Curve::x, y_shown);
  if (frame.x.low > frame.x.high) {
    throw UsageError("no curve has a point that these axes can show");
  }
  if (frame.x.low == frame.x.high) add_margin(frame.x);
  if (picture.x_scale == AxisScale::linear && frame.x.low > 0 &&
      frame.x.low < 0.05 * frame.x.high) {
    frame.x.low = 0;
  }
  choose_ends(frame.x, picture.x_low, picture.x_high, "x");
  const auto in_x_range = [&](const Curve& curve, std::size_t i) {
    return curve.x[i] >= frame.x.low && curve.x[i] <= frame.x.high;
  };
  frame.y = extent_of(curves, picture.y_scale, &Curve::y, in_x_range);
  if (frame.y.low <= frame.y.high) add_margin(frame.y);
  choose_ends(frame.y, picture.y_low, picture.y_high, "y");
  return frame;
}

}  // namespace ringweave::detail::inline app
