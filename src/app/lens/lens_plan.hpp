// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/lens/lens_job.hpp"
#include "app/lens/potential.hpp"
#include "app/predict/lensing_prediction.hpp"
#include "app/predict/memory_estimate.hpp"
#include "nonuniform/point_memory.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {

/// The plan of a run of `lens`, from sizes alone.
struct LensPlan {
  /// Plans for one of so many ranks. Not collective.
  LensPlan(const LensJob& job, const PotentialSource& source, int rank, int n_ranks);

  TransformPlan deflection;  ///< the transform of d onto the pixels
  std::shared_ptr<const RingDistribution> bands;
  FieldAtPixels lensed;
  std::optional<FieldAtPixels> inverse{};  ///< d, where an inverse is looked for
  std::int64_t n_potentials;               ///< a_lm of phi, Omega, or of all fields that are drawn
};

/// Returns the specification of shear and convergence on the pixels, from which |A| follows.
TransformSpec spec_of_magnification(const LensPlan& plan, bool has_curl);

/// Returns the memory of the plan's rank, without the program and earlier buffers: the buffers that
/// exist when the map is complete, and the surplus of earlier phases over them; or those of the
/// analysis of a map, which comes first, if they are more.
/// analysis  memory that the analysis holds; empty where there is none
std::vector<MemoryItem> memory_of(const LensJob& job, const LensPlan& plan,
                                  std::vector<MemoryItem> analysis);
/// Returns the bytes that the transform to the pixels takes on the device of the plan's rank.
DevicePointMemory device_memory_of(const LensJob& job, const LensPlan& plan);

}  // namespace ringweave::detail::inline app
