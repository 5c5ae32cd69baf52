// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "perf_models/estimate.hpp"

namespace ringweave {

/// What a unit of work costs, in seconds, at problems of some sizes: what was measured, and between
/// two sizes a power law. Beyond the measured sizes the cost stays what it is at the nearest.
class CostCurve {
 public:
  struct Point {
    double size = 0;
    double seconds = 0;  ///< of a unit of work
  };

  CostCurve() = default;
  /// `uncertainty`: one standard deviation over the value. Error  UsageError unless there is a
  /// point, sizes are positive and ascend, costs are positive and the uncertainty is not negative.
  CostCurve(std::vector<Point> points, double uncertainty);

  /// Of `units` of work at a problem of this size.
  Estimate estimate(double size, double units) const;

  const std::vector<Point>& points() const { return points_; }
  double uncertainty() const { return uncertainty_; }

 private:
  double at(double size) const;

  std::vector<Point> points_;
  double uncertainty_ = 0;
};

/// A run of a stage: how much it did in how long.
struct Sample {
  double size = 0;
  double units = 0;
  double seconds = 0;
};

/// The curve through the samples of equal size: the mean of those that are neither in the least nor
/// in the largest quarter, of three the one in the middle. Its uncertainty is how much samples of
/// one size scatter, and a quarter of how far a point lies from the curve through its neighbours:
/// what a curve misses goes with the square of the gap. Error  UsageError without samples.
CostCurve fit_curve(std::vector<Sample> samples);

/// What several launches say of one cost: at each size the mean of those in the middle as above,
/// and as uncertainty theirs together with how much the launches differ (one standard deviation
/// over the sizes). Error  UsageError unless there are two or more of the same sizes.
CostCurve combine_curves(const std::vector<CostCurve>& launches);

}  // namespace ringweave
