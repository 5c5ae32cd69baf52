// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "perf_models/estimate.hpp"

namespace ringweave {

/// Seconds per unit of work as a function of problem size: measured points, joined by power laws
/// and constant beyond the first and the last size.
class CostCurve {
 public:
  struct Point {
    double size = 0;
    double seconds = 0;  ///< per unit of work
  };

  CostCurve() = default;
  /// uncertainty  one standard deviation, relative to the value
  /// Error  UsageError unless there is a point, sizes are positive and ascend, costs are positive
  /// and the uncertainty is not negative.
  CostCurve(std::vector<Point> points, double uncertainty);

  /// Estimates the time of `units` of work at a problem of this size.
  Estimate estimate(double size, double units) const;

  const std::vector<Point>& points() const { return points_; }
  double uncertainty() const { return uncertainty_; }

 private:
  double at(double size) const;

  std::vector<Point> points_;
  double uncertainty_ = 0;
};

/// One timed run of a stage.
struct Sample {
  double size = 0;
  double units = 0;
  double seconds = 0;
};

/// Fits a curve to samples: at each size the mean without the smallest and the largest quarter (of
/// three samples the middle one). The uncertainty combines the scatter at one size and a quarter of
/// the distance of a point from the curve through its neighbours, since the interpolation error
/// grows with the square of the gap. Error  UsageError without samples.
CostCurve fit_curve(std::vector<Sample> samples);

/// Combines the curves of several launches: at each size the trimmed mean as in fit_curve, with the
/// launches' own uncertainties and their spread (one standard deviation over the sizes) as
/// uncertainty. Error  UsageError unless there are two or more curves of the same sizes.
CostCurve combine_curves(const std::vector<CostCurve>& launches);

}  // namespace ringweave
