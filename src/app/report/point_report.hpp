// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/run.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline app {

/// Puts taps, fine rows, balance and predicted seconds of one transform to points, in either
/// direction, into the report and, with --dry-run or --verbose, prints them. Collective.
void record_point_plan(Run& run, const PointTransform& transform);

/// Reports a transform to points that was done once: seconds of its stages and points per second.
/// Collective.
void record_point_transform(Run& run, const PointReport& report, const StageTimes& times);

}  // namespace ringweave::detail::inline app
