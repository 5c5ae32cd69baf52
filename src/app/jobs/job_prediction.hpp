// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "app/predict/scaling_prediction.hpp"
#include "perf_models/estimate.hpp"
#include "perf_models/machine.hpp"

namespace ringweave {

/// Work of one command of a job, with all fields of its transform.
struct JobWork {
  int n_transforms = 1;
  int n_on_spectra = 0;  ///< of these, on the host, with spectra of rings instead of maps
  int n_maps_read = 0;
  int n_maps_written = 1;
  int n_maps_held = 1;      ///< at the same time; a_lm and ring modes exist once
  int n_residual_maps = 0;  ///< in addition, on a device
};

struct JobPrediction {
  Estimate transforms;
  Estimate whole;                  ///< with plans, new memory and files
  std::int64_t largest_bytes = 0;  ///< of maps, a_lm and ring modes on the rank that has most
};

/// Predicts the slowest rank. Files take as long as if one rank read and wrote them; a run that
/// does so concurrently with its computation is faster. Not collective.
JobPrediction predict_job(const TransformScaling& scaling, const TransformSpec& spec,
                          const JobWork& work, int n_ranks, const ScalingPlace& place,
                          const Machine& machine);

/// Number of ranks that largest_device_bytes() examines.
inline constexpr int most_device_plans = 16;

/// Returns the GPU memory of one transform with its data (plan_device_memory), on the rank that has
/// most among most_device_plans of all ranks. Needs no GPU. Not collective.
std::int64_t largest_device_bytes(const TransformSpec& spec, int n_ranks);

/// Returns the memory a node needs for this many ranks: data, the program, MPI's buffers, and a
/// fifth more.
std::int64_t node_bytes(const JobPrediction& prediction, int n_ranks);

}  // namespace ringweave
