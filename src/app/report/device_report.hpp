// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/plan_table.hpp"
#include "app/run.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// Reports the device the transform found, the memory used on it, and why a_lm and maps stay on the
/// host if they do; nothing with the host backend. Collective.
void record_device(Run& run, const SphericalHarmonicTransform& transform);

/// Prints the same as rows of the plan. Collective.
void print_device(Run& run, const SphericalHarmonicTransform& transform, PlanTable& table);

}  // namespace ringweave::detail::inline app
