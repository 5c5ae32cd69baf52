// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_split.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/maps/map_batch.hpp"
#include "app/report/device_report.hpp"
#include "app/report/plan_table.hpp"
#include "app/smooth/smooth_maps.hpp"
#include "app/temperature_spectrum.hpp"
#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "convolve/convolution_smoothing.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/split/split_convolution.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/mpi_session.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave {
namespace {

constexpr double arcmin = std::numbers::pi / (180 * 60);

KernelSplitSpec split_spec(Run& run, const SmoothJob& job, const HarmonicPart& harmonic) {
  const int lmax = job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
  KernelSplitSpec spec;
  spec.k_l = beam_of(run, job.options, lmax).t;
  spec.k_l.resize(to_size(std::int64_t{lmax} + 1), 0.0);
  if (!job.options.input_cl.empty()) {
    spec.cl = temperature_spectrum(run.comm, job.options.input_cl, "--input-cl");
    if (spec.cl.size() < spec.k_l.size()) spec.cl.resize(spec.k_l.size(), 0.0);
  }
  spec.nside = job.grid->nside();
  spec.error = job.options.error.value_or(spec.error);
  const std::int64_t n_threads = run.comm.min(std::int64_t{omp_get_max_threads()});
  spec.machine = {&run.machine, run.comm.size(), checked_cast<int>(n_threads, "threads"), harmonic,
                  ranks_of_device(run)};
  spec.n_harmonic = job.options.harmonic_ranks;
  return spec;
}

std::string text_of(const SplitPlan& plan) {
  const bool on_device = plan.harmonic && plan.harmonic->spec.backend == Backend::cuda;
  const char* device = on_device ? ", these on a device" : "";
  const SplitPlacement& placement = plan.placement;
  if (placement.is_side_by_side()) {
    return fmt::format("side by side, rings on {} rank(s) and harmonics on {}{}",
                       placement.ranks_of_rings(plan.n_ranks), placement.n_harmonic, device);
  }
  return fmt::format("rings and harmonics {}{}", plan.at_once ? "at once" : "one after the other",
                     device);
}

/// Of so many maps, given that of one.
SplitPrediction for_maps(SplitPrediction prediction, std::int64_t n_maps) {
  const auto n = static_cast<double>(n_maps);
  for (Estimate* of :
       {&prediction.rings, &prediction.harmonic, &prediction.sending, &prediction.total})
    *of = n * *of;
  return prediction;
}

void record_plan(Run& run, const SmoothJob& job, const SplitJob& split,
                 const MemoryEstimate& estimate) {
  const SplitPlan& plan = split.plan;
  const SplitPrediction predicted = for_maps(predict_split(run, job, split), job.maps.n());
  const SplitCandidate& best = split.split.best();
  run.report["plan"] = {
      {"method", "split"},
      {"l_cut", best.l_cut},
      {"support_degrees", best.theta_cut / arcmin / 60},
      {"harmonic_ranks", plan.placement.n_harmonic},
      {"at_once", plan.at_once},
      {"predicted_seconds", predicted.total.seconds},
      {"predicted_uncertainty_seconds", predicted.total.sigma},
      {"predicted_stages",
       {{"rings", predicted.rings.seconds},
        {"harmonic", predicted.harmonic.seconds},
        {"sending", predicted.sending.seconds}}},
      {"harmonic_seconds", split.split.harmonic_only().seconds},
  };
  record_memory(run, estimate);
  if (!run.options.dry_run && !run.options.verbose) return;
  run.say(fmt::format("plan: {}, split method, {} map(s), {} rank(s) x {} thread(s)",
                      job.grid->name(), plan.rings.spec().n_maps, run.comm.size(),
                      omp_get_max_threads()));
  run.say(fmt::format("  l_cut {}, theta_cut {:.4g} arcmin, error {:.2g}", best.l_cut,
                      best.theta_cut / arcmin, split.split.error().total));
  run.say("  " + text_of(plan));
  PlanTable table(run);
  table.count("rings", plan.own.n_rings());
  table.count("pixels", plan.own.n_pixels());
  table.bytes("halo sent per convolution", plan.does_rings() ? halo_bytes_to_send(plan.rings) : 0);
  table.memory(estimate);
  if (plan.harmonic && plan.harmonic->spec.backend == Backend::cuda) {
    table.bytes("device, harmonic part",
                plan.does_harmonic() ? plan_device_memory(*plan.harmonic).total() : 0);
  }
  run.say(fmt::format(
      "  predicted: {} (rings {:.2g}, harmonics {:.2g}, sending {:.2g}); all degrees of the a_lm "
      "{}",
      seconds_text(predicted.total), predicted.rings.seconds, predicted.harmonic.seconds,
      predicted.sending.seconds, seconds_text(split.split.harmonic_only())));
}

/// The maps of a job with their split kernel, one by one.
template <class T>
class SplitRun {
 public:
  SplitRun(Run& run, const SmoothJob& job, const SplitJob& split, std::vector<MapRange> groups)
      : run_(run), job_(job), split_(split), map_run_(run, job.maps, std::move(groups)) {}

  int smooth() {
    const LocalRings& own = split_.plan.own;
    const MapSteps<SmoothedMaps<T>> steps{reading_maps<T>(run_, job_, own),
                                          [this](Group& group) { compute(group); },
                                          writing_maps<T>(run_, job_, own)};
    const MapsDone done = run_maps(map_run_, steps);
    release();
    const SplitCandidate& best = split_.split.best();
    return conclude_smoothing(
        run_, job_, done,
        fmt::format("split method, l_cut {}, support {:.4g} degrees, error {:.2g}", best.l_cut,
                    best.theta_cut / arcmin / 60, split_.split.error().total));
  }

 private:
  using Group = MapGroup<SmoothedMaps<T>>;

  void plan_convolution() {
    make_convolution();
    const SphericalHarmonicTransform* transform = convolution_->transform();
    if (run_.comm.min(std::int64_t{transform != nullptr}) == 1) record_device(run_, *transform);
  }

  /// On the host where the device that --backend auto took is of no use.
  void make_convolution() {
    SplitMaps maps = split_.maps;
    if (maps.harmonic.backend == Backend::cuda && job_.options.transform.backend == "auto") {
      try {
        convolution_ = std::make_unique<SplitConvolution>(run_.comm, split_.split, maps);
        return;
      } catch (const ResourceError& error) {
        maps.harmonic = {give_up_device(run_, error.what())};
        run_.report["plan"]["at_once"] = false;
      }
    }
    convolution_ = std::make_unique<SplitConvolution>(run_.comm, split_.split, maps);
  }

  void compute(Group& group) {
    if (job_.maps.is_single()) run_.progress.stage("convolving");
    if (convolution_ == nullptr) plan_convolution();
    const std::int64_t n_maps = split_.plan.rings.spec().n_maps;
    auto smoothed =
        agreed(run_.comm, [&] { return MapBuffer<T>(n_maps, split_.plan.own.n_pixels()); });
    MapBuffer<T>& map = group.maps.map;
    const ConvolutionSmoothingReport report =
        with_path(job_.maps.to_do[to_size(group.range.first)].input, [&] {
          return smooth_on_rings<T>(run_.comm, *convolution_, job_.smoothing, map.view(),
                                    smoothed.view());
        });
    map = std::move(smoothed);
    if (map_run_.is_last(group.range)) release();
    tell_treatment(run_, job_, group.range.first, {report.unseen_pixels, report.removed});
    Provenance& provenance = group.maps.provenance;
    provenance = provenance_of(run_, job_);
    provenance.method = "split";
    provenance.support_degrees = split_.split.best().theta_cut / arcmin / 60;
    provenance.kernel_error = split_.split.error().total;
    provenance.lmax = split_.split.best().l_cut;
  }

  /// The last outputs need its memory.
  void release() {
    if (!convolution_) return;
    const auto add = [&](const StageTimes& times, const std::string& prefix) {
      for (const auto& [stage, entry] : times.entries())
        run_.times.add(prefix + stage, entry.seconds);
    };
    add(convolution_->times(), "");
    if (auto* rings = convolution_->ring_convolution()) add(rings->times(), "rings: ");
    if (auto* transform = convolution_->transform()) add(transform->times(), "");
    convolution_.reset();
  }

  Run& run_;
  const SmoothJob& job_;
  const SplitJob& split_;
  std::unique_ptr<SplitConvolution> convolution_;
  MapRun map_run_;
};

}  // namespace

std::string against_split(const SmoothJob& job) {
  if (job.choice.fields.max_spin() > 0)
    return "it convolves scalar fields, and Q and U need the harmonic way";
  if (job.grid->nside() == 0 || job.grid->is_subset())
    return fmt::format("it is for full HEALPix maps, and this is {}", job.grid->name());
  return "";
}

SplitJob plan_split(Run& run, const SmoothJob& job) {
  if (const std::string why = against_split(job); !why.empty()) {
    throw UsageError(
        fmt::format("--method split: {}; use --fields T, --method ring or harmonic", why));
  }
  if (job.options.harmonic_ranks.value_or(0) >= run.comm.size()) {
    throw UsageError(fmt::format(
        "--harmonic-ranks {}: expected 0 to {}, for {} rank(s) in all must do the rings "
        "too; start more ranks, or leave it out",
        *job.options.harmonic_ranks, run.comm.size() - 1, run.comm.size()));
  }
  const std::int64_t n_maps = job.choice.fields.n_components();
  require_memory_for(run, *job.grid, 2 * n_maps, job.precision);
  const Backend backend = choose_backend(run, job.options.transform.backend);
  const bool at_once = backend == Backend::cuda && threads_may_call_mpi();
  const SplitMaps maps{job.grid,
                       n_maps,
                       bytes_of(job.precision),
                       {backend, run.comm.min(std::int64_t{at_once}) == 1}};
  const KernelSplitSpec spec = split_spec(run, job, maps.harmonic);
  run.progress.stage("splitting the kernel");
  SplitJob split = agreed(run.comm, [&] {
    KernelSplit kernel(spec);
    if (!kernel.has_parts()) throw UsageError("--method split: " + kernel.reason());
    SplitPlan plan(kernel, maps, run.comm.rank(), run.comm.size());
    return SplitJob{std::move(kernel), maps, std::move(plan)};
  });
  agree_same(run.comm, "the split of the kernel", split.split.best().l_cut);
  return split;
}

SplitPrediction predict_split(const Run& run, const SmoothJob& job, const SplitJob& split) {
  const SplitPlan& plan = split.plan;
  const int n = job.is_normalized() ? 2 : 1;
  SplitPrediction of;
  of.rings = of_slowest(
      run.comm, n * estimate_convolution(plan.rings, run.machine, omp_get_max_threads()).total());
  if (plan.harmonic) of.harmonic = predict_transforms(run, *plan.harmonic, {2 * n, 0, false}).total;
  const Estimate slower = longer(of.harmonic, of.rings);
  of.total = plan.at_once ? slower : of.rings + of.harmonic;
  if (!plan.placement.is_side_by_side()) return of;
  const RingConvolutionSpec& maps = plan.rings.spec();
  const double doubles =
      static_cast<double>(n * maps.n_maps * maps.bytes_per_pixel) / sizeof(double);
  of.sending = doubles * split.split.best().sending;
  of.total = slower + of.sending;
  return of;
}

int smooth_by_split(Run& run, const SmoothJob& job, const SplitJob& split) {
  const MaskSmoothing mask = job.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
  const std::vector<MapRange> groups =
      one_by_one(run, job.maps, job.options.maps, "--method split takes them so");
  const MemoryEstimate estimate = with_others(estimate_memory(split.plan, mask, job.precision),
                                              groups, bytes_of_map(job, split.plan.own));
  tell_groups(run, job.maps, groups);
  record_plan(run, job, split, estimate);
  record_files(run, files_of(job));
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;
  return with_storage(job.precision, [&](auto storage) {
    return SplitRun<decltype(storage)>(run, job, split, groups).smooth();
  });
}

int smooth_with_split(Run& run, SmoothJob& job) {
  return smooth_by_split(run, job, plan_split(run, job));
}

}  // namespace ringweave
