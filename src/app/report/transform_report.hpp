// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_estimate.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {

/// Number of transforms of a command, in either direction.
struct TransformCount {
  int all_fields = 0;       ///< with all fields
  int mask = 0;             ///< with one scalar field, for --unseen normalize
  bool is_a_guess = false;  ///< conjugate gradients, whose number of iterations is not known yet
  // Those with spectra of rings instead of maps, without FFTs. None on a device.
  int all_fields_on_spectra = 0;
  int mask_on_spectra = 0;

  TransformCount& operator+=(const TransformCount& more);
  friend TransformCount operator*(int times, const TransformCount& one) {
    return {times * one.all_fields, times * one.mask, one.is_a_guess,
            times * one.all_fields_on_spectra, times * one.mask_on_spectra};
  }
};

/// Returns the transforms of an analysis before the run: with `n_iter` Jacobi corrections, or
/// (tolerance > 0) with the number of conjugate gradient steps a plan assumes.
TransformCount planned_analysis(int n_iter, double tolerance, PixelWeights weights);

/// Returns the largest estimate of all ranks, so that choices based on it are the same on every
/// rank. Collective.
Estimate of_slowest(const Communicator& comm, const Estimate& mine);

/// Returns " for the host, ..." where seconds on a device are predicted with the host's costs, else
/// nothing.
std::string whose_costs(const Run& run, bool is_on_device);

/// Predicted seconds of the slowest rank.
struct TransformPrediction {
  TransformEstimate stages;
  Estimate total;
};
/// Collective.
TransformPrediction predict_transforms(const Run& run, const TransformPlan& plan,
                                       const TransformCount& count);

/// Adds the plan to the report and, with --dry-run or --verbose, prints it: distribution, bytes by
/// object and rank, predicted seconds. Collective.
void record_plan(Run& run, const SphericalHarmonicTransform& transform,
                 const MemoryEstimate& estimate, const TransformCount& count);

/// Adds the transforms onto another grid, the synthesis of its maps, to the plan in the report and,
/// with --dry-run or --verbose, prints their predicted seconds. Collective.
void record_synthesis_plan(Run& run, const SphericalHarmonicTransform& transform,
                           const TransformCount& count);

/// Returns the name of a device, how many ranks share it, and its free memory, in words.
std::string device_text(const DeviceShare& device);
/// Returns the same and the bytes planned on it, for the report. Collective.
nlohmann::ordered_json device_entry(const Run& run, const DeviceShare& device,
                                    std::int64_t planned_bytes);

/// Reports the device the transform found, the memory used on it, and why a_lm and maps stay on the
/// host if they do; nothing with the host backend. Collective.
void record_device(Run& run, const SphericalHarmonicTransform& transform);

/// Place of a prediction in the report's plan: the plan itself, or its part "harmonic" or
/// "synthesis".
enum class PlanPart { whole, synthesis };

/// Reports a finished run: the transform's stages, layout and rates, and the model's prediction for
/// the same number of transforms. Those of a synthesis onto another grid follow the others, as
/// "synthesis" and without the layout. Collective.
void record_transform(Run& run, SphericalHarmonicTransform& transform, const TransformCount& count,
                      PlanPart part = PlanPart::whole);

}  // namespace ringweave::detail::inline app
