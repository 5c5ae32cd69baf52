// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "transform/spherical_harmonic_transform.hpp"
#include "transform/transform_estimate.hpp"

namespace ringweave {

/// How many times a command goes through the line, in either direction.
struct TransformCount {
  int all_fields = 0;       ///< with all fields of its transform
  int mask = 0;             ///< with one scalar field, for --unseen normalize
  bool is_a_guess = false;  ///< conjugate gradients, before their number of iterations is known
  // Of these, to and from the spectra of rings, without FFTs. On a device there are none.
  int all_fields_on_spectra = 0;
  int mask_on_spectra = 0;

  TransformCount& operator+=(const TransformCount& more);
  friend TransformCount operator*(int times, const TransformCount& one) {
    return {times * one.all_fields, times * one.mask, one.is_a_guess,
            times * one.all_fields_on_spectra, times * one.mask_on_spectra};
  }
};

/// Before a run: transforms of an analysis with `n_iter` Jacobi corrections, or (tolerance > 0)
/// with as many conjugate gradient steps as a plan assumes.
TransformCount planned_analysis(int n_iter, double tolerance, PixelWeights weights);

/// The largest of all ranks, so that what is chosen by it is the same on every rank. Collective.
Estimate of_slowest(const Communicator& comm, const Estimate& mine);

/// Seconds the slowest rank is predicted to need.
struct TransformPrediction {
  TransformEstimate stages;
  Estimate total;
};
/// Collective.
TransformPrediction predict_transforms(const Run& run, const TransformPlan& plan,
                                       const TransformCount& count);

/// Puts the plan into the report and, with --dry-run or --verbose, prints it: who owns what, bytes
/// by object and rank, predicted seconds. Collective.
void record_plan(Run& run, const SphericalHarmonicTransform& transform,
                 const MemoryEstimate& estimate, const TransformCount& count);

/// Where a prediction goes in the report's plan: it is the plan, or its part "harmonic".
enum class PlanPart { whole, harmonic };

/// After a run: the transform's stages, layout and rates, and what the model predicts for as many
/// transforms. Collective.
void record_transform(Run& run, SphericalHarmonicTransform& transform, const TransformCount& count,
                      PlanPart part = PlanPart::whole);

}  // namespace ringweave
