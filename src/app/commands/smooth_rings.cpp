// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/smooth_rings.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <numbers>
#include <optional>

#include "app/backend_choice.hpp"
#include "app/plan_table.hpp"
#include "base/error.hpp"
#include "convolve/convolution_smoothing.hpp"
#include "convolve/ring_convolution.hpp"
#include "convolve/ring_convolution_estimate.hpp"
#include "distribute/agree.hpp"

namespace ringweave {
namespace {

double degrees(double radians) { return radians * 180 / std::numbers::pi; }

void warn_where_dear(Run& run, const RingPrediction& prediction) {
  // Typical machines are good to a factor of two, and seconds are nothing to warn of.
  constexpr double clearly = 3;
  const double seconds = prediction.total.seconds;
  if (seconds < 1 || seconds < clearly * prediction.harmonic.seconds) return;
  run.warn(
      fmt::format("--method ring needs about {:.2g} s for this kernel, --method harmonic --iter 0 "
                  "about {:.2g} s; a larger --error or a smaller --support makes rings faster",
                  seconds, prediction.harmonic.seconds));
}

void print_plan(Run& run, const RingJob& rings, const MemoryEstimate& estimate,
                const RingPrediction& prediction) {
  const RingConvolutionPlan& plan = rings.plan;
  run.say(fmt::format("plan: {}, ring method, {} map(s){}, {} rank(s) x {} thread(s)",
                      plan.grid().name(), rings.n_scalars(),
                      rings.spins ? ", Q and U the harmonic way" : "", run.comm.size(),
                      omp_get_max_threads()));
  run.say(fmt::format(
      "  kernel cut at {:.4g} degrees, which costs {:.2g} of the rms; {:.2g} allowed in all",
      degrees(plan.support()), rings.cut.truncation, rings.cut.error));
  PlanTable table(run);
  table.count("rings", plan.own().n_rings());
  table.count("pixels", plan.own().n_pixels());
  table.bytes("halo sent per convolution", halo_bytes_to_send(plan));
  table.memory(estimate);
  const RingConvolutionEstimate& of = prediction.stages;
  const int n = prediction.n_convolutions;
  run.say(fmt::format(
      "  predicted: {} on rings (stencil {:.2g}, sectors {:.2g}, ring FFT {:.2g}, modes {:.2g}, "
      "halo {:.2g}); the harmonic way {}",
      seconds_text(prediction.total), n * of.stencil.seconds, n * of.sectors.seconds,
      n * of.ring_fft.seconds, n * of.modes.seconds, n * of.halo.seconds,
      seconds_text(prediction.harmonic)));
  if (rings.spins)
    run.say(fmt::format("  predicted: {} for Q and U", seconds_text(prediction.spins)));
}

void record_plan(Run& run, const RingJob& rings, const MemoryEstimate& estimate,
                 const RingPrediction& prediction) {
  const RingConvolutionEstimate& of = prediction.stages;
  const int n = prediction.n_convolutions;
  const auto sent = static_cast<double>(halo_bytes_to_send(rings.plan));
  run.report["plan"] = {
      {"method", "ring"},
      {"halo_bytes", run.comm.sum(sent)},
      {"predicted_seconds", prediction.total.seconds},
      {"predicted_uncertainty_seconds", prediction.total.sigma},
      {"predicted_stages",
       {{"stencil", n * of.stencil.seconds},
        {"sectors", n * of.sectors.seconds},
        {"ring_fft", n * of.ring_fft.seconds},
        {"modes", n * of.modes.seconds},
        {"halo", n * of.halo.seconds}}},
      {"harmonic_seconds", prediction.harmonic.seconds},
  };
  record_memory(run, estimate);
  nlohmann::ordered_json objects = nlohmann::ordered_json::object();
  for (const MemoryItem& item : estimate.items) objects[item.name] = run.comm.sum(item.bytes);
  run.report["plan"]["memory_bytes"] = objects;
  if (rings.spins) run.report["plan"]["harmonic"]["predicted_seconds"] = prediction.spins.seconds;
  if (run.options.dry_run || run.options.verbose) print_plan(run, rings, estimate, prediction);
}

void record_convolution(Run& run, const RingJob& rings, RingConvolution& convolution,
                        const ConvolutionSmoothingReport& report, double seconds) {
  for (const auto& [stage, entry] : convolution.times().entries())
    run.times.add(stage, entry.seconds);
  run.report["convolution"] = {
      {"method", "ring"},
      {"maps", rings.n_scalars()},
      {"convolutions", report.convolutions},
      {"support_degrees", degrees(rings.plan.support())},
      {"truncation_error", rings.cut.truncation},
      {"allowed_error", rings.cut.error},
      {"kernel_power_beyond_grid", rings.cut.beyond_grid},
      {"seconds", over_ranks(run.comm, seconds)},
      {"halo_bytes_sent", run.comm.sum(convolution.halo_bytes_sent())},
  };
  run.report["layout"] = {
      {"rings", over_ranks(run.comm, static_cast<double>(rings.plan.own().n_rings()))},
      {"pixels", over_ranks(run.comm, static_cast<double>(rings.plan.own().n_pixels()))},
  };
}

/// The scalar fields of `map` on rings. Alone they come back in their own memory, without the
/// input; before Q and U they take the input's place.
template <class T>
ConvolutionSmoothingReport convolve(Run& run, const SmoothJob& job, const RingJob& rings,
                                    MapBuffer<T>& map) {
  run.progress.stage("convolving");
  const std::int64_t n_scalars = rings.n_scalars();
  auto smoothed =
      agreed(run.comm, [&] { return MapBuffer<T>(n_scalars, rings.plan.own().n_pixels()); });
  RingConvolution convolution(run.comm, rings.plan.spec());
  StageTimes time;
  ConvolutionSmoothingReport report;
  {
    const StageTimer timer(&time, "convolution");
    report = naming(job.options.input, [&] {
      return smooth_by<T>(run.comm, convolution, job.smoothing, map.view().components(0, n_scalars),
                          smoothed.view());
    });
  }
  record_convolution(run, rings, convolution, report, time.seconds("convolution"));
  if (rings.spins) {
    std::copy_n(smoothed.view().data(), smoothed.size(), map.view().data());
  } else {
    map = std::move(smoothed);
  }
  return report;
}

template <class T>
SmoothingReport smooth_spins(Run& run, const SmoothJob& job, SpinPart& spins, MapView<T> map) {
  run.progress.stage("smoothing Q and U");
  SmoothingOptions smoothing = job.smoothing;
  smoothing.remove = Remove::none;
  const SmoothingReport report = smooth_fields<T>(run, job, *spins.transform, smoothing, map);
  record_transform(run, *spins.transform, {report.analysis.transforms, report.mask_transforms},
                   PlanPart::harmonic);
  spins.transform->release_workspace();
  run.report["analysis"] = {{"iterations", report.analysis.iterations},
                            {"residuals", report.analysis.residuals}};
  return report;
}

template <class T>
void run_with(Run& run, const SmoothJob& job, RingJob& rings) {
  const SmoothOptions& options = job.options;
  MapBuffer<T> map = read_map<T>(run, options.input, *job.reader, job.choice, rings.plan.own());
  const ConvolutionSmoothingReport report = convolve(run, job, rings, map);
  std::int64_t unseen_pixels = report.unseen_pixels;
  Provenance provenance = provenance_of(run, job);
  provenance.method = "ring";
  provenance.support_degrees = degrees(rings.plan.support());
  provenance.kernel_error = rings.cut.truncation;
  if (rings.spins) {
    const SmoothingReport spin_report =
        smooth_spins<T>(run, job, *rings.spins, map.view().components(1, 2));
    unseen_pixels += spin_report.unseen_pixels;
    provenance.lmax = rings.spins->transform->spec().lmax;
    provenance.iterations = spin_report.analysis.iterations;
    run.say("T went by rings; Q and U, which have spin, the harmonic way");
  }
  tell_treatment(run, job, unseen_pixels, report.removed);
  write_smoothed<T>(run, job, provenance, rings.plan.own(), map.view());
  run.conclusion = fmt::format(
      "{}: {} smoothed with {}, ring method, support {:.4g} degrees, error of the cut {:.2g}",
      options.output, job.choice.name, options.fwhm + options.beam + options.kernel,
      degrees(rings.plan.support()), rings.cut.truncation);
}

}  // namespace

RingJob plan_rings(Run& run, const SmoothJob& job) {
  refuse_device(job.options.transform.backend, "--method ring");
  const FieldSet& fields = job.choice.fields;
  if (fields.max_spin() > 0 && fields.n_components() == 2) {
    throw UsageError(
        "--method ring convolves scalar fields, and this map has Q and U only, which need the "
        "harmonic way; use --method harmonic --iter 0");
  }
  const std::int64_t n_scalars = fields.max_spin() > 0 ? 1 : fields.n_components();
  require_memory_for(run, *job.grid, fields.n_components() + n_scalars, job.precision);
  CutKernel cut = cut_kernel(run, job.options, *job.grid, job.precision);
  RingConvolutionSpec spec;
  spec.grid = job.grid;
  spec.kernels = {cut.kernel};
  spec.n_maps = n_scalars;
  spec.error = cut.error_of_sums;
  spec.bytes_per_pixel = bytes_of(job.precision);
  RingJob rings{
      std::move(cut),
      agreed(run.comm, [&] { return RingConvolutionPlan(spec, run.comm.rank(), run.comm.size()); }),
      std::nullopt};
  if (fields.max_spin() == 0) return rings;
  TransformSpec harmonic =
      make_spec(job.options.transform, job.grid, FieldSet({2}), job.usual_lmax);
  harmonic.ring_bands = std::make_shared<RingDistribution>(rings.plan.bands());
  rings.spins.emplace();
  rings.spins->way = harmonic_way(run, job);
  rings.spins->transform = std::make_unique<SphericalHarmonicTransform>(run.comm, harmonic);
  return rings;
}

RingPrediction predict_rings(const Run& run, const SmoothJob& job, const RingJob& rings) {
  RingPrediction prediction;
  prediction.n_convolutions = job.is_normalized() ? 2 : 1;
  prediction.stages = estimate_convolution(rings.plan, run.machine, omp_get_max_threads());
  prediction.stages.halo = of_slowest(run.comm, prediction.stages.halo);
  prediction.total = prediction.n_convolutions * prediction.stages.total();
  const FieldSet scalars = FieldSet::batch(0, static_cast<int>(rings.n_scalars()));
  const TransformSpec spec = make_spec({}, job.grid, scalars, job.usual_lmax);
  const auto plan =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), run.comm.size()); });
  prediction.harmonic =
      predict_transforms(run, plan, {2, job.is_normalized() ? 2 : 0, false}).total;
  if (rings.spins) {
    prediction.spins =
        predict_transforms(run, rings.spins->transform->plan(), rings.spins->way.count).total;
  }
  return prediction;
}

void smooth_on_rings(Run& run, SmoothJob& job, RingJob& rings) {
  stay_on_host(run, job.options.transform.backend, "--method ring");
  RingMemoryUse use;
  use.n_components = job.choice.fields.n_components();
  use.mask = job.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
  if (rings.spins) {
    use.harmonic = &rings.spins->transform->plan();
    use.harmonic_use = rings.spins->way.use;
    job.smoothing.beam = beam_of(run, job.options, rings.spins->transform->spec().lmax);
  }
  const MemoryEstimate estimate = estimate_memory(rings.plan, use);
  const RingPrediction prediction = predict_rings(run, job, rings);
  record_plan(run, rings, estimate, prediction);
  warn_where_narrow(run, rings.cut, *job.grid);
  warn_where_dear(run, prediction);
  require_memory(run, estimate);
  if (run.options.dry_run) return;

  if (rings.spins)
    job.smoothing.weights = load_weights(run, rings.spins->way.weights, rings.plan.own());
  with_storage(job.precision, [&](auto storage) { run_with<decltype(storage)>(run, job, rings); });
}

}  // namespace ringweave
