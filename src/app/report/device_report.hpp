// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/plan_table.hpp"
#include "app/run.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {

/// Puts into the report which device the transform found, what it takes of it and, where a_lm and
/// maps stay on the host, why; nothing with the host's backend. Collective.
void record_device(Run& run, const SphericalHarmonicTransform& transform);

/// The same as rows of a printed plan. Collective.
void print_device(Run& run, const SphericalHarmonicTransform& transform, PlanTable& table);

}  // namespace ringweave
