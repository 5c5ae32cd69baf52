// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr double recognised = 1e-9;  // of the spacing

/// Throws unless there are two nodes or more, finite and ascending.
void check_ascending(std::span<const double> nodes, const std::string& name) {
  if (nodes.size() < 2) {
    throw DataError(name, fmt::format("{} nodes; an axis needs 2 or more", nodes.size()));
  }
  for (std::int64_t i = 0; i < ssize64(nodes); ++i) {
    const double node = nodes[to_size(i)];
    if (!std::isfinite(node)) {
      throw DataError(name, fmt::format("node {} (from 0) is {}; give finite nodes", i, node));
    }
    if (i > 0 && node <= nodes[to_size(i - 1)]) {
      throw DataError(
          name, fmt::format("node {} (from 0) is {}, the one before {}; nodes must ascend", i, node,
                            nodes[to_size(i - 1)]));
    }
  }
}

/// Returns the first node that is not where the axis has it, or the number of nodes.
std::int64_t first_misfit(const PlaneAxis& axis, std::span<const double> nodes) {
  for (std::int64_t i = 1; i + 1 < axis.size; ++i) {
    const double expected = axis.node(i);
    const double spacing = std::min(expected - axis.node(i - 1), axis.node(i + 1) - expected);
    if (!(std::abs(nodes[to_size(i)] - expected) <= recognised * spacing)) return i;
  }
  return axis.size;
}

}  // namespace

double PlaneAxis::node(std::int64_t i) const {
  if (i == 0) return first;
  if (i == size - 1) return last;
  // From the middle, so that nodes are symmetric about it.
  const auto twice = static_cast<double>(2 * i - (size - 1));
  const auto intervals = static_cast<double>(size - 1);
  const double share = nodes == PlaneNodes::equispaced
                           ? twice / intervals
                           : std::sin(std::numbers::pi / 2 * (twice / intervals));
  return (first + last) / 2 + (last - first) / 2 * share;
}

PlaneAxis PlaneAxis::of_nodes(std::span<const double> values, PlaneBoundary boundary,
                              const std::string& name) {
  check_ascending(values, name);
  PlaneAxis axis{ssize64(values), values.front(), values.back(), PlaneNodes::equispaced, boundary};
  const std::int64_t misfit = first_misfit(axis, values);
  if (misfit == axis.size) return axis;
  PlaneAxis chebyshev = axis;
  chebyshev.nodes = PlaneNodes::chebyshev;
  const std::int64_t chebyshev_misfit = first_misfit(chebyshev, values);
  if (chebyshev_misfit == axis.size) {
    if (boundary != PlaneBoundary::periodic) return chebyshev;
    throw DataError(name,
                    "Chebyshev nodes of a periodic axis; a periodic axis needs equispaced nodes");
  }
  // Of both kinds the one that fits farther.
  const bool is_chebyshev = chebyshev_misfit > misfit;
  const std::int64_t i = is_chebyshev ? chebyshev_misfit : misfit;
  throw DataError(
      name,
      fmt::format("node {} (from 0) is {:.17g}; {} nodes from {} to {} have {:.17g} there, to "
                  "1e-9 of the spacing. Nodes must be equispaced or Chebyshev's",
                  i, values[to_size(i)], is_chebyshev ? "Chebyshev" : "equispaced", axis.first,
                  axis.last, (is_chebyshev ? chebyshev : axis).node(i)));
}

}  // namespace ringweave
