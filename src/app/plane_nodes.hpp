// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "ringweave/files.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline app {

/// Returns by how much coordinates of a file may differ from their nodes by rounding alone: four
/// units in the last place of the largest of single precision; 0 of double precision.
double rounding_of_coordinates(const PlaneFileAxis& axis);

/// Recognises the nodes in the coordinates of a file, as PlaneAxis::of_nodes() does. Coordinates of
/// single precision need be right to their rounding only, and give exact nodes between the ends.
/// name   in messages
/// Error  DataError.
PlaneAxis nodes_in_file(const PlaneFileAxis& axis, PlaneBoundary boundary, const std::string& name);

}  // namespace ringweave::detail::inline app
