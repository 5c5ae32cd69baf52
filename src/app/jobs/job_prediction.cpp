// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/job_prediction.hpp"

#include <algorithm>

#include "app/predict/file_estimate.hpp"
#include "transform/device_memory_plan.hpp"
#include "transform/transform_estimate.hpp"

namespace ringweave {
namespace {

/// Resident memory of a rank before it has any data, including the message buffers of libraries.
constexpr std::int64_t program_bytes = std::int64_t{64} << 20;

}  // namespace

JobPrediction predict_job(const TransformScaling& scaling, const TransformSpec& spec,
                          const JobWork& work, int n_ranks, const ScalingPlace& place,
                          const Machine& machine) {
  const TransformShares shares = scaling.shares(n_ranks);
  TransformWork transform = shares.largest;
  transform.n_threads = place.n_threads;
  transform.place = place.place;
  const bool on_host = place.place == Place::host;
  JobPrediction prediction;
  prediction.largest_bytes =
      shares.largest_bytes +
      (work.n_maps_held - 1 + (on_host ? 0 : work.n_residual_maps)) * transform.fft_pixel_bytes;
  const int n_on_spectra = on_host ? work.n_on_spectra : 0;
  prediction.transforms =
      (work.n_transforms - n_on_spectra) * estimate_transform(transform, machine).total() +
      n_on_spectra * estimate_transform(on_spectra(transform), machine).total();

  const auto memory = static_cast<double>(prediction.largest_bytes);
  const double map_bytes =
      static_cast<double>(spec.grid->n_pixels() * spec.fields.n_components()) * sizeof(double);
  prediction.whole =
      prediction.transforms + estimate_planning(spec, machine) +
      1.0 / place.n_threads * machine.new_memory.estimate(memory, memory) +
      predict_files(machine, {work.n_maps_read, map_bytes, work.n_maps_written, map_bytes});
  return prediction;
}

std::int64_t largest_device_bytes(const TransformSpec& spec, int n_ranks) {
  const int n_plans = std::min(n_ranks, most_device_plans);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < n_plans; ++i) {
    const auto rank = static_cast<int>(i * n_ranks / n_plans);
    most = std::max(most, plan_device_memory(TransformPlan(spec, rank, n_ranks)).total());
  }
  return most;
}

std::int64_t node_bytes(const JobPrediction& prediction, int n_ranks) {
  return n_ranks * (prediction.largest_bytes + program_bytes) / 5 * 6;
}

}  // namespace ringweave
