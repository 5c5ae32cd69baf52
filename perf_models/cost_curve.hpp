// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ringweave/execution.hpp"

namespace ringweave::detail::inline perf_models {

/// The cost of a unit of work, in seconds, over the size of a problem: measured values, a power law
/// between two sizes, and a constant beyond the measured sizes.
class CostCurve {
 public:
  struct Point {
    double size = 0;
    double seconds = 0;  ///< per unit of work
  };

  CostCurve() = default;
  /// `uncertainty`: one standard deviation over the value. Error  UsageError unless there is a
  /// point, sizes are positive and ascend, costs are positive and the uncertainty is not negative.
  CostCurve(std::vector<Point> points, double uncertainty);

  /// Returns the cost of `units` of work at a problem of this size.
  Estimate estimate(double size, double units) const;

  const std::vector<Point>& points() const { return points_; }
  double uncertainty() const { return uncertainty_; }

 private:
  double at(double size) const;

  std::vector<Point> points_;
  double uncertainty_ = 0;
};

/// A timed run of a stage and its amount of work.
struct Sample {
  double size = 0;
  double units = 0;
  double seconds = 0;
};

/// Fits a curve through the samples of equal size: the mean of those that are neither in the
/// smallest nor in the largest quarter; of three the one in the middle. Its uncertainty is the
/// scatter of samples of one size, and a quarter of the distance of a point from the curve through
/// its neighbours, since interpolation errors go with the square of the gap. Error  UsageError
/// without samples.
CostCurve fit_curve(std::vector<Sample> samples);

/// Returns the largest ratio between the costs of one case in several turns. Of five turns or more
/// the fastest and the slowest do not count. 1 where nothing can be compared.
/// samples  of all cases in the first turn, then as many of the next; those below a millisecond are
///          left out
double spread_of_turns(const std::vector<Sample>& samples, int n_turns);

/// Combines several launches' curves of one cost: at each size the mean of those in the middle as
/// above; the uncertainty is theirs combined with the scatter between launches (one standard
/// deviation over the sizes). Error  UsageError unless there are two or more of the same sizes.
CostCurve combine_curves(const std::vector<CostCurve>& launches);

}  // namespace ringweave::detail::inline perf_models
