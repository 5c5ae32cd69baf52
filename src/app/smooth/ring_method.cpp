// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_rings.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/maps/map_batch.hpp"
#include "app/report/plan_table.hpp"
#include "app/smooth/smooth_maps.hpp"
#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "convolve/convolution_smoothing.hpp"
#include "convolve/ring/ring_convolution.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {
namespace {

double degrees(double radians) { return radians * 180 / std::numbers::pi; }

/// Of so many maps, given that of one.
RingPrediction for_maps(RingPrediction prediction, std::int64_t n_maps) {
  const int n = checked_cast<int>(n_maps, "maps");
  prediction.n_convolutions *= n;
  for (Estimate* of : {&prediction.total, &prediction.harmonic, &prediction.spins}) *of = n * *of;
  return prediction;
}

void warn_if_slow(Run& run, const RingPrediction& prediction) {
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

/// The ring way of all maps of a job, one by one.
template <class T>
class RingRun {
 public:
  RingRun(Run& run, const SmoothJob& job, RingJob& rings, std::vector<MapRange> groups)
      : run_(run), job_(job), rings_(rings), map_run_(run, job.maps, std::move(groups)) {}

  int smooth() {
    const LocalRings& own = rings_.plan.own();
    const MapSteps<SmoothedMaps<T>> steps{reading_maps<T>(run_, job_, own),
                                          [this](Group& group) { compute(group); },
                                          writing_maps<T>(run_, job_, own)};
    const MapsDone done = run_maps(map_run_, steps);
    release();
    record_convolution();
    if (rings_.spins) {
      record_transform(run_, *rings_.spins->transform, spin_count_, PlanPart::harmonic);
      run_.say("T went by rings; Q and U, which have spin, the harmonic way");
    }
    return conclude_smoothing(
        run_, job_, done,
        fmt::format("ring method, support {:.4g} degrees, error of the cut {:.2g}",
                    degrees(rings_.plan.support()), rings_.cut.truncation));
  }

 private:
  using Group = MapGroup<SmoothedMaps<T>>;

  void compute(Group& group) {
    const std::int64_t map = group.range.first;
    const bool is_last = map_run_.is_last(group.range);
    TreatmentReport treatment = convolve(group.maps.map, map, is_last);
    Provenance& provenance = group.maps.provenance;
    provenance = provenance_of(run_, job_);
    provenance.method = "ring";
    provenance.support_degrees = degrees(rings_.plan.support());
    provenance.kernel_error = rings_.cut.truncation;
    if (rings_.spins) {
      const SmoothingReport spins = smooth_spins(group);
      treatment.unseen_pixels += spins.maps.front().unseen_pixels;
      provenance.lmax = rings_.spins->transform->spec().lmax;
      provenance.iterations = spins.analysis.iterations;
    }
    tell_treatment(run_, job_, map, treatment);
  }

  /// The scalar fields of `map` on rings. Alone they come back in their own memory, without the
  /// input; before Q and U they take the input's place.
  TreatmentReport convolve(MapBuffer<T>& map, std::int64_t number, bool is_last) {
    if (job_.maps.is_single()) run_.progress.stage("convolving");
    const std::int64_t n_scalars = rings_.n_scalars();
    auto smoothed =
        agreed(run_.comm, [&] { return MapBuffer<T>(n_scalars, rings_.plan.own().n_pixels()); });
    if (!convolution_) convolution_.emplace(run_.comm, rings_.plan.spec());
    ConvolutionSmoothingReport report;
    {
      const StageTimer timer(&time_, "convolution");
      report = with_path(job_.maps.to_do[to_size(number)].input, [&] {
        return smooth_on_rings<T>(run_.comm, *convolution_, job_.smoothing,
                                  map.view().components(0, n_scalars), smoothed.view());
      });
    }
    n_convolutions_ += report.convolutions;
    halo_bytes_ = convolution_->halo_bytes_sent();
    // Q and U need its memory, and so do the last outputs.
    if (is_last || rings_.spins) release();
    if (rings_.spins) {
      std::copy_n(smoothed.view().data(), smoothed.size(), map.view().data());
    } else {
      map = std::move(smoothed);
    }
    return {report.unseen_pixels, report.removed};
  }

  void release() {
    if (!convolution_) return;
    for (const auto& [stage, entry] : convolution_->times().entries())
      run_.times.add(stage, entry.seconds);
    convolution_.reset();
  }

  SmoothingReport smooth_spins(Group& group) {
    if (job_.maps.is_single()) run_.progress.stage("smoothing Q and U");
    SmoothingOptions smoothing = job_.smoothing;
    smoothing.remove = Remove::none;
    SphericalHarmonicTransform& transform = *rings_.spins->transform;
    const SmoothingReport report = smooth_fields<T>(run_, job_, transform, smoothing, group.range,
                                                    group.maps.map.view().components(1, 2));
    spin_count_ += count_of(report);
    // The next map's convolution, like the last outputs, needs its memory.
    transform.release_workspace();
    run_.report["analysis"] = {{"iterations", report.analysis.iterations},
                               {"residuals", report.analysis.residuals}};
    return report;
  }

  void record_convolution() {
    run_.report["convolution"] = {
        {"method", "ring"},
        {"maps", rings_.n_scalars()},
        {"convolutions", n_convolutions_},
        {"support_degrees", degrees(rings_.plan.support())},
        {"truncation_error", rings_.cut.truncation},
        {"allowed_error", rings_.cut.error},
        {"kernel_power_beyond_grid", rings_.cut.beyond_grid},
        {"seconds", over_ranks(run_.comm, time_.seconds("convolution"))},
        {"halo_bytes_sent", run_.comm.sum(halo_bytes_)},
    };
    run_.report["layout"] = {
        {"rings", over_ranks(run_.comm, static_cast<double>(rings_.plan.own().n_rings()))},
        {"pixels", over_ranks(run_.comm, static_cast<double>(rings_.plan.own().n_pixels()))},
    };
  }

  Run& run_;
  const SmoothJob& job_;
  RingJob& rings_;
  std::optional<RingConvolution> convolution_;
  StageTimes time_;
  int n_convolutions_ = 0;
  std::int64_t halo_bytes_ = 0;  ///< sent by this rank in one convolution
  TransformCount spin_count_;
  MapRun map_run_;
};

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

int smooth_on_rings(Run& run, SmoothJob& job, RingJob& rings) {
  stay_on_host(run, job.options.transform.backend, "--method ring");
  RingMemoryUse use;
  use.n_components = job.choice.fields.n_components();
  use.mask = job.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
  if (rings.spins) {
    use.harmonic = &rings.spins->transform->plan();
    use.harmonic_use = rings.spins->way.use;
    job.smoothing.beam = beam_of(run, job.options, rings.spins->transform->spec().lmax);
  }
  const std::vector<MapRange> groups =
      one_by_one(run, job.maps, job.options.maps, "--method ring takes them so");
  const LocalRings& own = rings.plan.own();
  const MemoryEstimate estimate =
      with_others(estimate_memory(rings.plan, use), groups, bytes_of_map(job, own));
  const RingPrediction prediction = for_maps(predict_rings(run, job, rings), job.maps.n());
  tell_groups(run, job.maps, groups);
  record_plan(run, rings, estimate, prediction);
  record_files(run, files_of(job));
  warn_where_narrow(run, rings.cut, *job.grid);
  warn_if_slow(run, prediction);
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;

  if (rings.spins)
    job.smoothing.weights =
        std::make_shared<const AnalysisWeights>(load_weights(run, rings.spins->way.weights, own));
  return with_storage(job.precision, [&](auto storage) {
    return RingRun<decltype(storage)>(run, job, rings, groups).smooth();
  });
}

}  // namespace ringweave
