// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/plot/picture_file.hpp"

namespace ringweave::detail::inline app {

/// Style of a curve: a single one or theory as a solid or dashed line, measurements beside theory
/// thin.
enum class CurveStyle { line, thin, dashed };

/// One named curve. Values that are not finite or not positive interrupt it; a signed one shows the
/// absolute values of negative ones dotted.
struct Curve {
  std::string name;  ///< in the legend; empty: not listed
  std::vector<double> x{};
  std::vector<double> y{};
  CurveStyle style = CurveStyle::line;
  int colour = 0;  ///< index for curve_colour()
  bool is_signed = false;
};

/// A shaded band: middle - half_width to middle + half_width over x, but where half_width is 0.
struct CurveBand {
  std::vector<double> x{};
  std::vector<double> middle{};
  std::vector<double> half_width{};
  int colour = 0;  ///< index for curve_colour()
};

/// Additions to a plot of curves that compare them with an expectation.
struct CurveComparison {
  std::vector<CurveBand> bands{};
  std::string band_name{};         ///< in the legend
  std::vector<Curve> residuals{};  ///< in standard deviations, in a panel below; none: no panel
  std::string residual_title{};
};

/// Size and title of a plot.
struct CurvePicture {
  int width = 1600;
  int height = 1000;
  std::string title{};
  std::string unit{};  ///< of C_l, such as uK^2; empty: not shown
};

/// Returns l(l+1) C_l / 2 pi over l; cl [l = 0..lmax]. Without monopole and dipole, which are much
/// larger than the rest.
Curve spectrum_curve(const std::string& name, std::span<const double> cl, CurveStyle style,
                     int colour = 0);

/// Draws curves with logarithmic axes, grid and a legend where it hides least.
/// Error  UsageError when x and y differ in length, nothing can be drawn, or the size is not within
/// 200..20000; ResourceError when the file cannot be written.
/// Not collective.
void draw_curves(const CurvePicture& picture, const std::vector<Curve>& curves,
                 const PictureFile& file, const CurveComparison& comparison = {});

}  // namespace ringweave::detail::inline app
