// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ringweave::detail::inline app {

enum class AxisScale { linear, logarithmic };

/// Style of a curve: theory as a solid or dashed line, measurements thin or as points.
enum class CurveStyle { line, thin, dashed, points };

/// One named curve. Values that are not finite, or not positive on a logarithmic axis, interrupt
/// it.
struct Curve {
  std::string name;  ///< in the legend; empty: not listed
  std::vector<double> x;
  std::vector<double> y;
  CurveStyle style = CurveStyle::line;
  std::optional<int> colour{};  ///< index for curve_colour(); default: its index in the list
};

/// Labels and ranges of a plot. Missing ranges are those of the curves.
struct CurvePicture {
  int width = 1600;
  int height = 1000;
  std::string title;
  std::string x_label = "Multipole \u2113";
  std::string y_label = "\u2113(\u2113+1) C_{\u2113} / 2\u03c0";
  std::string y_unit;  ///< appended to the label in brackets
  AxisScale x_scale = AxisScale::linear;
  AxisScale y_scale = AxisScale::linear;
  std::optional<double> x_low{}, x_high{}, y_low{}, y_high{};
};

/// Returns l(l+1) C_l / 2 pi over l from first_l; cl [l = 0..lmax]. By default without monopole and
/// dipole, which are much larger than the rest.
Curve spectrum_curve(const std::string& name, std::span<const double> cl, CurveStyle style,
                     int first_l = 2);

/// Draws curves with axes, grid and a legend where it hides least.
/// Error  UsageError when x and y differ in length, a range is empty, nothing can be drawn, or the
/// size is not within 200..20000; ResourceError when the file cannot be written.
/// Writes directly to `png_path`: pass the temporary path of an AtomicOutput. Not collective.
void draw_curves(const CurvePicture& picture, const std::vector<Curve>& curves,
                 const std::string& png_path);

}  // namespace ringweave::detail::inline app
