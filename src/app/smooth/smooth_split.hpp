// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/smooth/smooth_job.hpp"
#include "convolve/split/split_plan.hpp"
#include "perf_models/estimate.hpp"

namespace ringweave {

/// A kernel that was split for a job, and who does which part of it.
struct SplitJob {
  KernelSplit split;
  SplitMaps maps;
  SplitPlan plan;
};

/// Why a job cannot be done with a split kernel, in words that follow "because"; empty where it
/// can.
std::string against_split(const SmoothJob& job);

/// Searches for the fastest split. Collective. Error  UsageError where the job does not allow one
/// or none keeps --error.
SplitJob plan_split(Run& run, const SmoothJob& job);

/// Predicted seconds of all convolutions, with the mask's.
struct SplitPrediction {
  Estimate rings;
  Estimate harmonic;
  Estimate sending;
  Estimate total;
};
/// Collective.
SplitPrediction predict_split(const Run& run, const SmoothJob& job, const SplitJob& split);

/// Collective.
int smooth_by_split(Run& run, const SmoothJob& job, const SplitJob& split);

/// --method split: few degrees through a_lm, the rest of the kernel on the rings. Scalar fields of
/// a HEALPix map. Collective. Error  UsageError where no split keeps --error.
int smooth_with_split(Run& run, SmoothJob& job);

}  // namespace ringweave
