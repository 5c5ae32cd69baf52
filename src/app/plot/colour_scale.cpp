// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/colour_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the value that a fraction `part` of the values does not exceed; reorders them.
double percentile(std::vector<double>& values, double part) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(
                                          part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// Moves the ends of an empty range apart.
ColourRange with_margin(ColourRange range) {
  if (range.low < range.high) return range;
  const double margin = range.low == 0 ? 1.0 : 0.1 * std::abs(range.low);
  return {range.low - margin, range.low + margin};
}

ColourRange logarithmic_range(std::vector<double> values) {
  constexpr double most_decades = 1e6;
  std::erase_if(values, [](double value) { return value <= 0; });
  if (values.empty()) return {1, 10};
  const double high = *std::max_element(values.begin(), values.end());
  return with_margin({std::max(percentile(values, 0.005), high / most_decades), high});
}

}  // namespace

ScaleKind scale_kind(const std::string& name) {
  if (name == "log") return ScaleKind::logarithmic;
  return name == "asinh" ? ScaleKind::asinh : ScaleKind::linear;
}

bool has_value(double value) { return std::isfinite(value) && !is_unseen(value); }

ColourRange colour_range(const std::vector<double>& raster, ScaleKind kind) {
  std::vector<double> values;
  std::copy_if(raster.begin(), raster.end(), std::back_inserter(values), has_value);
  if (kind == ScaleKind::logarithmic) return logarithmic_range(std::move(values));
  if (values.empty()) return {0, 1};
  const bool is_linear = kind == ScaleKind::linear;
  const double low = percentile(values, 0.005), high = percentile(values, 0.995);
  if (low < 0 && high > 0 && std::min(-low, high) >= 0.05 * std::max(-low, high)) {
    for (double& value : values) value = std::abs(value);
    const double end = round_up(percentile(values, is_linear ? 0.995 : 1.0));
    return {-end, end};
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  ColourRange range{*least, *most};
  if (is_linear) {
    if (high > *least && high - *least < (*most - *least) / 3) range.high = high;
    if (range.high > low && range.high - low < (range.high - range.low) / 3) range.low = low;
  }
  return with_margin(range);
}

double default_linear_range(const std::vector<double>& raster) {
  std::vector<double> sizes;
  for (const double value : raster) {
    if (has_value(value) && value != 0) sizes.push_back(std::abs(value));
  }
  return sizes.empty() ? 1 : percentile(sizes, 0.5);
}

ColourScale::ColourScale(ScaleKind kind, ColourRange range, double linear_range)
    : kind_(kind), range_(range), linear_range_(linear_range) {
  if (!(range.low < range.high) || !std::isfinite(range.high - range.low)) {
    throw UsageError(
        fmt::format("the colours would run from {:g} to {:g}; give --range LO:HI with "
                    "LO < HI",
                    range.low, range.high));
  }
  if (kind == ScaleKind::logarithmic && !(range.low > 0)) {
    throw UsageError(
        fmt::format("the colours would run from {:g} to {:g}, and --scale log begins above 0; give "
                    "--range with a positive LOW, or --scale asinh",
                    range.low, range.high));
  }
  if (kind == ScaleKind::asinh && !(linear_range > 0 && std::isfinite(linear_range))) {
    throw UsageError(fmt::format(
        "--linear-range {:g}: expected a number above 0, in the map's unit", linear_range));
  }
}

bool ColourScale::shows(double value) const {
  return has_value(value) && (kind_ != ScaleKind::logarithmic || value > 0);
}

double ColourScale::transformed(double value) const {
  switch (kind_) {
    case ScaleKind::linear: break;
    case ScaleKind::logarithmic: return std::log(value);
    case ScaleKind::asinh: return std::asinh(value / linear_range_);
  }
  return value;
}

double ColourScale::place(double value) const {
  const double begin = transformed(range_.low);
  return (transformed(value) - begin) / (transformed(range_.high) - begin);
}

Ticks ColourScale::ticks(int most) const {
  Ticks ticks;
  switch (kind_) {
    case ScaleKind::linear: break;
    case ScaleKind::logarithmic: ticks = logarithmic_ticks(range_.low, range_.high, most); break;
    case ScaleKind::asinh: ticks = asinh_ticks(range_.low, range_.high, linear_range_, most); break;
  }
  // A short range may hold no such number.
  if (ticks.places.size() < 2) return linear_ticks(range_.low, range_.high, most);
  return ticks;
}

}  // namespace ringweave::detail::inline app
