// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "arrays.hpp"
#include "plan.hpp"

#include <ringweave/transform.hpp>

namespace ringweave::python {

using TransformPlan = Plan<SphericalHarmonicTransform>;

/// Calls use(float or double) for the numbers of `rows`.
template <class Use>
auto with_type(const Rows& rows, const Use& use) {
  return rows.is_single ? use(float{}) : use(double{});
}

}  // namespace ringweave::python
