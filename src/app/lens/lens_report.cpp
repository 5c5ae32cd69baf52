// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "app/backend_choice.hpp"
#include "app/lens/lensed_map.hpp"
#include "app/predict/device_memory.hpp"
#include "app/predict/lensing_prediction.hpp"
#include "app/predict/point_prediction.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/point_report.hpp"
#include "app/report/transform_report.hpp"
#include "app/transform_setup.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "nonuniform/inverse_deflection.hpp"
#include "perf_models/point_model.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Operations on vectors like those of sums over taps, to sort a point (measured at lmax 1023).
constexpr double operations_of_sorting = 40;

/// Puts the seconds of a part of the run into the report's plan and prints them.
void record_part(Run& run, const char* name, const std::string& what, const Estimate& total,
                 const std::vector<std::pair<const char*, double>>& stages) {
  nlohmann::ordered_json& part = run.report["plan"][name];
  part["predicted_seconds"] = total.seconds;
  part["predicted_uncertainty_seconds"] = total.sigma;
  std::string text;
  for (const auto& [stage, seconds] : stages) {
    part["predicted_stages"][stage] = seconds;
    text += fmt::format("{}{} {:.2g}", text.empty() ? "" : ", ", stage, seconds);
  }
  if (run.options.dry_run || run.options.verbose)
    run.print_line(fmt::format("  predicted: {} in {} ({})", seconds_text(total), what, text));
}

/// The synthesis of d. Collective.
Estimate predict_deflection(Run& run, const LensPlan& plan) {
  const TransformPrediction d = predict_transforms(run, plan.deflection, {.all_fields = 1});
  record_part(run, "deflection", "the deflection", d.total,
              {{"legendre", d.stages.legendre.seconds},
               {"exchange", d.stages.exchange.seconds},
               {"ring_fft", d.stages.ring_fft.seconds}});
  return d.total;
}

/// The rows of d, and the points of all steps. Collective.
Estimate predict_inverse(Run& run, const LensPlan& plan) {
  const FieldAtPixels& d = *plan.inverse;
  const int n_ranks = run.comm.size();
  const TransformSpec spec = transform_to_rows(d.spec, d.pixels.plan());
  const TransformPlan to_rows =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), n_ranks); });
  const TransformPrediction rows = predict_transforms(run, to_rows, {.all_fields = 1});
  const auto n_steps = static_cast<double>(points_of_inverse(1));
  PointWork work = point_work(spec, d.report, d.sent_bytes(), {n_ranks, omp_get_max_threads()});
  const PointEstimate once = estimate_points(work, run.machine);
  work.operations = static_cast<double>(d.report.most_points) * operations_of_sorting;
  const Estimate points = n_steps * of_slowest(run.comm, once.points);
  const Estimate values = n_steps * of_slowest(run.comm, once.value_exchange);
  const Estimate sorting =
      n_steps * of_slowest(run.comm, estimate_points(work, run.machine).points);
  const Estimate total = rows.total + points + values + sorting;
  record_part(run, "inverse",
              fmt::format("the inverse deflection, {:.0f} evaluations of d", n_steps), total,
              {{"legendre", rows.stages.legendre.seconds},
               {"exchange", rows.stages.exchange.seconds},
               {"rows", rows.stages.ring_fft.seconds},
               {"sorting", sorting.seconds},
               {"points", points.seconds},
               {"value_exchange", values.seconds}});
  return total;
}

/// Predicts the transforms on the job's grid, other than that of d. Collective.
Estimate predict_on_grid(Run& run, const char* name, const std::string& what,
                         const TransformSpec& spec, const TransformCount& count) {
  const TransformPlan plan =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), run.comm.size()); });
  const TransformPrediction predicted = predict_transforms(run, plan, count);
  record_part(run, name, what, predicted.total,
              {{"legendre", predicted.stages.legendre.seconds},
               {"exchange", predicted.stages.exchange.seconds},
               {"ring_fft", predicted.stages.ring_fft.seconds}});
  return predicted.total;
}

/// Predicts all stages. Collective.
void predict_seconds(Run& run, const LensJob& job, const LensPlan& plan) {
  const LensOptions& options = job.options;
  Estimate total = predict_deflection(run, plan);
  if (plan.inverse) total = total + predict_inverse(run, plan);
  const FieldAtPixels& lensed = plan.lensed;
  const TransformSpec to_rows = transform_to_rows(lensed.spec, lensed.pixels.plan());
  const TransformPlan rows =
      agreed(run.comm, [&] { return TransformPlan(to_rows, run.comm.rank(), run.comm.size()); });
  total = total + record_point_prediction(run, rows,
                                          lensing_work(to_rows, lensed, rotation_of(options),
                                                       {run.comm.size(), omp_get_max_threads()}));
  if (options.magnification) {
    total = total + predict_on_grid(run, "magnification", "|A|",
                                    spec_of_magnification(plan, !options.curl.empty()), {1});
  }
  if (options.lensed_lmax >= 0) {
    const LensedCut cut = lensed_cut(job, plan.bands);
    TransformCount count = planned_analysis(cut.n_iter, 0, PixelWeights::none);
    count += {1};
    total =
        total + predict_on_grid(run, "lensed_lmax", "the cut at --lensed-lmax", cut.spec, count);
  }
  run.report["plan"]["predicted_lensing_seconds"] = total.seconds;
  if (run.options.dry_run || run.options.verbose)
    run.print_line(fmt::format("  predicted: {} in all of these", seconds_text(total)));
}

/// Names the pixels of a job in messages.
std::string pixels_of(const LensJob& job) {
  return fmt::format("deflected pixels of {} with lmax = {}", job.grid->name(), job.spec.lmax);
}

}  // namespace

void require_memory_for_fields(const Run& run, const LensJob& job, int potential_lmax) {
  TransformSpec spec;
  spec.grid = job.grid;
  spec.lmax = job.spec.lmax;
  spec.mmax = job.spec.mmax;
  spec.fields = job.spec.fields;
  require_memory_for(run.comm, spec, job.precision);
  spec.lmax = spec.mmax = potential_lmax;
  spec.fields = FieldSet({1});
  require_memory_for(run.comm, spec, Precision::double_);
}

std::optional<PointDevice> device_of_pixels(Run& run, LensJob& job, LensPlan& plan) {
  if (job.spec.backend == Backend::host) return std::nullopt;
  const PointDevice device{share_of_device(run.comm),
                           agreed(run.comm, [&] { return device_memory_of(job, plan); })};
  if (job.options.transform.backend != "auto") return device;
  const std::string shortage =
      device_shortage(run.comm, device.share, device.planned.total(), pixels_of(job));
  if (shortage.empty()) return device;
  job.spec.backend = plan.lensed.spec.backend = fall_back_to_host(run, shortage);
  return std::nullopt;
}

void record_lens_plan(Run& run, const LensJob& job, const PotentialSource& source,
                      const LensPlan& plan, const std::vector<MemoryItem>& analysis,
                      const std::optional<PointDevice>& device) {
  const MemoryEstimate estimate =
      with_program(agreed(run.comm, [&] { return memory_of(job, plan, analysis); }));
  record_memory_of_points(run, estimate, device);
  predict_seconds(run, job, plan);
  std::vector<MemoryItem> most = analysis;
  for (MemoryItem& item : most) item.bytes = run.comm.max(item.bytes);
  if (device && job.options.transform.backend == "cuda") {
    require_device_memory(run.comm, device->share, device->planned.total(), pixels_of(job));
  }
  distribute::require_memory_for(run.comm, estimate.buffers(), pixels_of(job), [&](int n_ranks) {
    const int busiest = LensPlan(job, source, 0, n_ranks).lensed.pixels.busiest_rank();
    const LensPlan among(job, source, busiest, n_ranks);
    std::vector<MemoryItem> shares = most;
    for (MemoryItem& item : shares) item.bytes = item.bytes / n_ranks * run.comm.size();
    return MemoryEstimate{memory_of(job, among, shares)}.total();
  });
}

}  // namespace ringweave::detail::inline app
