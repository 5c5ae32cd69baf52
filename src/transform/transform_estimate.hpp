// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "perf_models/transform_model.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline transform {

/// Returns this rank's work in one transform of all fields of the plan. With Backend::cuda it
/// assumes a device of its own that is large enough. Not collective.
TransformWork work_of(const TransformPlan& plan, int n_threads);
/// The same for the device the transform found. Not collective.
TransformWork work_of(const SphericalHarmonicTransform& transform, int n_threads);

/// The same on the host with ring spectra in place of pixels, so without FFTs.
TransformWork on_spectra(TransformWork work);

/// Returns TransformWork::legendre_work of the host. O(mmax). Not collective.
double legendre_work(const TransformSpec& spec, const ModeLimits& limits);

/// Sets the work of a device for fine rows, if a transform ends at these. Not collective.
/// n_orders  of a rank
void set_fine_rows(const TransformSpec& spec, std::int64_t n_orders, TransformWork& work);

/// Predicts the time to make a plan's tables and FFTs. Not collective.
Estimate estimate_planning(const TransformSpec& spec, const Machine& machine);

}  // namespace ringweave::detail::inline transform
