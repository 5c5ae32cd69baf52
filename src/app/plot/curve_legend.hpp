// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/plot/canvas.hpp"
#include "app/plot/curve_frame.hpp"
#include "app/plot/curve_plot.hpp"

namespace ringweave::detail::inline app {

/// Strokes the current path in the style of the curve, dotted for its negative values.
void stroke(const Canvas& canvas, const Curve& curve, double scale, double sign = 1);

/// Draws the names of the curves where they hide least of them.
/// band  name of the shaded band; empty: there is none
void draw_legend(const Canvas& canvas, const CurveFrame& frame, const std::vector<Curve>& curves,
                 const std::string& band);

}  // namespace ringweave::detail::inline app
