// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/predict/scaling_prediction.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// A value of a job script: the text after `begin` on the line that begins with it.
struct JobLine {
  std::string begin;
  std::string value;
};

/// The names of the files jobs/*.sbatch, without their extension.
std::vector<std::string> job_names();

/// The file jobs/NAME.sbatch with the values of these lines put in; those it does not have are left
/// out. Error  InternalError when there is no such file or a line of it begins with two of them.
std::string job_script(std::string_view name, const std::vector<JobLine>& lines);

/// Work of one command of a job, which writes one map, with all fields of its transform.
struct JobWork {
  int n_transforms = 1;
  int n_on_spectra = 0;  ///< of these, with spectra of rings instead of maps
  int n_maps_read = 0;
  int n_maps_held = 1;      ///< at the same time; a_lm and ring modes exist once
  int n_residual_maps = 0;  ///< in addition
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

/// Seconds of a limit as Slurm takes it: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S. Error  UsageError
/// naming `option`.
double slurm_seconds(const std::string& text, const std::string& option);

/// Returns a time as Slurm reads it, "02:15:00", "3-04:00:00": whole minutes, rounded up.
std::string slurm_time(double seconds);

/// Returns a time for people: "12 s", "3.4 min", "25 h".
std::string duration_text(double seconds);

}  // namespace ringweave::detail::inline app
