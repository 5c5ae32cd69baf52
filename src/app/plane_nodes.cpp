// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plane_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

bool are_near(const std::vector<double>& some, const std::vector<double>& others, double most) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [&](double a, double b) { return std::abs(a - b) <= most; });
}

/// Returns the exact nodes that coordinates are roundings of; without such nodes the coordinates.
std::vector<double> unrounded(const PlaneFileAxis& axis) {
  const std::vector<double>& given = axis.coordinates;
  const double rounding = rounding_of_coordinates(axis);
  for (const PlaneNodes kind : {PlaneNodes::equispaced, PlaneNodes::chebyshev}) {
    if (given.size() < 2) break;
    std::vector<double> nodes = nodes_of({axis.size, given.front(), given.back(), kind});
    const bool are_apart = nodes[1] - nodes[0] >= least_spacing * rounding;
    if (are_apart && are_near(given, nodes, rounding)) return nodes;
  }
  return given;
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
