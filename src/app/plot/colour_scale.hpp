// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "app/plot/ticks.hpp"

namespace ringweave::detail::inline app {

/// Spread of values over the colours. asinh is linear around 0 and logarithmic beyond, for both
/// signs.
enum class ScaleKind { linear, logarithmic, asinh };

/// Returns the kind of a name: linear, log or asinh.
ScaleKind scale_kind(const std::string& name);

/// Values at the two ends of the colours.
struct ColourRange {
  double low = 0;
  double high = 1;
};

/// Returns true if a value of a raster is one, not UNSEEN or NaN.
bool has_value(double value);

/// Returns the default range of a raster (equal-area, so its percentiles are those of the sky).
/// Both signs, the smaller at least a twentieth of the larger at the 0.5 and 99.5 percentiles:
/// symmetric about 0, to the 99.5 percentile of |value| (asinh: to its largest) rounded up to two
/// digits. One sign: from smallest to largest; if linear, to the 99.5 percentile if the last half
/// percent would take up more than two thirds of the colours. Logarithmic: from the 0.5 percentile
/// of positive values to the largest, at most six decades. No values: a range that can be drawn.
ColourRange colour_range(const std::vector<double>& raster, ScaleKind kind = ScaleKind::linear);

/// Returns the default half width of the linear part of asinh: the median of |value| over the
/// values that are not 0, so that half of the sky has colours that are nearly linear. No such
/// values: 1.
double default_linear_range(const std::vector<double>& raster);

/// The places of values between the two ends of the colours.
class ColourScale {
 public:
  /// linear_range  half width of the linear part, for asinh alone. Error  UsageError unless low <
  /// high, both are finite, low > 0 where logarithmic, linear_range > 0 for asinh.
  ColourScale(ScaleKind kind, ColourRange range, double linear_range = 1);

  const ColourRange& range() const { return range_; }
  /// Returns true if a value has a place: logarithmic, only positive ones have.
  bool shows(double value) const;
  /// Returns 0 at the low end and 1 at the high end; less and more beyond them.
  double place(double value) const;
  /// Returns at most `most` marks that suit the scale.
  Ticks ticks(int most) const;

 private:
  double transformed(double value) const;

  ScaleKind kind_;
  ColourRange range_;
  double linear_range_;
};

}  // namespace ringweave::detail::inline app
