// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plane_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Nodes that are farther from each other than this times their rounding can be told apart.
constexpr double least_spacing = 8;

std::vector<double> nodes_of(const PlaneAxis& axis) {
  std::vector<double> nodes(to_size(axis.size));
  for (std::int64_t i = 0; i < axis.size; ++i) nodes[to_size(i)] = axis.node(i);
  return nodes;
}

/// Returns the exact nodes that coordinates are roundings of, up to the first that is none.
std::vector<double> unrounded(const PlaneFileAxis& axis) {
  const std::vector<double>& given = axis.coordinates;
  if (given.size() < 2) return given;
  const double rounding = rounding_of_coordinates(axis);
  const auto is_near = [&](double a, double b) { return std::abs(a - b) <= rounding; };
  std::vector<double> best = given;
  std::int64_t most = 0;
  for (const PlaneNodes kind : {PlaneNodes::equispaced, PlaneNodes::chebyshev}) {
    const std::vector<double> nodes = nodes_of({axis.size, given.front(), given.back(), kind});
    if (nodes[1] - nodes[0] < least_spacing * rounding) continue;
    const auto misfit = std::mismatch(nodes.begin(), nodes.end(), given.begin(), is_near);
    const std::int64_t n_fit = misfit.first - nodes.begin();
    if (n_fit <= most) continue;
    most = n_fit;
    best = given;
    std::copy(nodes.begin(), misfit.first, best.begin());
  }
  return best;
}

}  // namespace

double rounding_of_coordinates(const PlaneFileAxis& axis) {
  if (axis.precision == Precision::double_) return 0;
  constexpr double units = 4;
  double largest = 0;
  for (const double value : axis.coordinates) largest = std::max(largest, std::abs(value));
  return units * static_cast<double>(std::numeric_limits<float>::epsilon()) * largest;
}

PlaneAxis nodes_in_file(const PlaneFileAxis& axis, PlaneBoundary boundary,
                        const std::string& name) {
  if (axis.precision == Precision::double_)
    return PlaneAxis::of_nodes(axis.coordinates, boundary, name);
  try {
    return PlaneAxis::of_nodes(unrounded(axis), boundary, name);
  } catch (const DataError& error) {
    throw DataError("", fmt::format("{} (coordinates of single precision are compared to their "
                                    "rounding, {:.2g})",
                                    error.what(), rounding_of_coordinates(axis)));
  }
}

}  // namespace ringweave::detail::inline app
