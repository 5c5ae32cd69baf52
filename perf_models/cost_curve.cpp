// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/cost_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline perf_models {
namespace {

/// Minimum uncertainty of timings on a machine with other load.
constexpr double least_uncertainty = 0.02;

double power_law(const CostCurve::Point& a, const CostCurve::Point& b, double size) {
  const double share = std::log(size / a.size) / std::log(b.size / a.size);
  return a.seconds * std::pow(b.seconds / a.seconds, share);
}

/// Returns the values without the smallest and the largest quarter, at least one of three or more
/// at either end.
std::vector<double> middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t quarter = values.size() < 3 ? 0 : std::max<std::size_t>(1, values.size() / 4);
  const auto left_out = static_cast<std::ptrdiff_t>(quarter);
  return {values.begin() + left_out, values.end() - left_out};
}

/// Returns the mean of the middle values: disturbed turns do not count, and where turns run at one
/// of two speeds it is between them. A median would be one of the two.
double centre_of(const std::vector<double>& values) {
  const std::vector<double> middle = middle_of(values);
  return std::accumulate(middle.begin(), middle.end(), 0.0) / static_cast<double>(middle.size());
}

/// Returns one standard deviation as a fraction of the centre: that of the middle values, or an
/// estimate from the deviations of all values, whichever is larger.
double scatter_of(const std::vector<double>& values) {
  const double centre = centre_of(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value / centre - 1));
  const std::vector<double> middle = middle_of(values);
  double squares = 0;
  for (const double value : middle) squares += std::pow(value / centre - 1, 2);
  const double of_middle =
      middle.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(middle.size() - 1));
  constexpr double of_normal = 1.4826;
  return std::max(of_middle, of_normal * centre_of(deviations));
}

double interpolation_error(const std::vector<CostCurve::Point>& points) {
  double worst = 0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double between = power_law(points[i - 1], points[i + 1], points[i].size);
    worst = std::max(worst, std::abs(between / points[i].seconds - 1) / 4);
  }
  return worst;
}

}  // namespace

CostCurve::CostCurve(std::vector<Point> points, double uncertainty)
    : points_(std::move(points)), uncertainty_(uncertainty) {
  if (points_.empty()) throw UsageError("a cost curve needs at least one measured size");
  if (!(uncertainty_ >= 0))
    throw UsageError("the uncertainty of a cost is a fraction, not below 0");
  double last = 0;
  for (const Point& point : points_) {
    if (!(point.size > last) || !(point.seconds > 0) || !std::isfinite(point.seconds) ||
        !std::isfinite(point.size))
      throw UsageError("a cost curve's sizes must ascend from above 0 and its costs be above 0");
    last = point.size;
  }
}

double CostCurve::at(double size) const {
  if (points_.empty()) throw InternalError("a cost curve without points was evaluated");
  if (size <= points_.front().size) return points_.front().seconds;
  if (size >= points_.back().size) return points_.back().seconds;
  const auto above = std::upper_bound(points_.begin(), points_.end(), size,
                                      [](double s, const Point& p) { return s < p.size; });
  return power_law(*(above - 1), *above, size);
}

Estimate CostCurve::estimate(double size, double units) const {
  const double seconds = units * at(size);
  return {seconds, seconds * uncertainty_};
}

double spread_of_turns(const std::vector<Sample>& samples, int n_turns) {
  constexpr double least_seconds = 1e-3;
  constexpr std::ptrdiff_t many = 5;
  const auto turns = static_cast<std::size_t>(n_turns);
  double largest = 1;
  if (turns < 2 || samples.size() % turns != 0) return largest;
  const std::size_t n_cases = samples.size() / turns;
  for (std::size_t one = 0; one < n_cases; ++one) {
    std::vector<double> costs;
    for (std::size_t i = one; i < samples.size(); i += n_cases) {
      if (samples[i].seconds >= least_seconds)
        costs.push_back(samples[i].seconds / samples[i].units);
    }
    if (costs.size() < turns) continue;
    std::sort(costs.begin(), costs.end());
    const std::ptrdiff_t left_out = std::ssize(costs) >= many ? 1 : 0;
    largest = std::max(largest, *(costs.end() - 1 - left_out) / *(costs.begin() + left_out));
  }
  return largest;
}

CostCurve fit_curve(std::vector<Sample> samples) {
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.size < b.size; });
  std::vector<CostCurve::Point> points;
  double scatter = 0;
  for (std::size_t i = 0; i < samples.size();) {
    std::vector<double> costs;
    const double size = samples[i].size;
    for (; i < samples.size() && samples[i].size == size; ++i)
      costs.push_back(samples[i].seconds / samples[i].units);
    points.push_back({size, centre_of(costs)});
    scatter = std::max(scatter, scatter_of(costs));
  }
  const double uncertainty =
      std::max(least_uncertainty, std::hypot(scatter, interpolation_error(points)));
  return {std::move(points), uncertainty};
}

CostCurve combine_curves(const std::vector<CostCurve>& launches) {
  const auto sizes_of = [](const CostCurve& curve) {
    std::vector<double> sizes;
    for (const CostCurve::Point& point : curve.points()) sizes.push_back(point.size);
    return sizes;
  };
  if (launches.size() < 2) throw UsageError("costs can only be combined from two or more launches");
  std::vector<CostCurve::Point> points = launches.front().points();
  std::vector<double> uncertainties;
  for (const CostCurve& launch : launches) {
    uncertainties.push_back(launch.uncertainty());
    if (sizes_of(launch) != sizes_of(launches.front()))
      throw UsageError("costs to be combined were measured at different sizes");
  }
  double squares = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<double> costs;
    for (const CostCurve& launch : launches) costs.push_back(launch.points()[i].seconds);
    points[i].seconds = centre_of(costs);
    for (const double cost : costs) squares += std::pow(cost / points[i].seconds - 1, 2);
  }
  const double between =
      std::sqrt(squares / static_cast<double>(points.size() * (launches.size() - 1)));
  return {std::move(points), std::hypot(centre_of(uncertainties), between)};
}

}  // namespace ringweave::detail::inline perf_models
