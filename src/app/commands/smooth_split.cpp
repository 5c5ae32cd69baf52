// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/smooth_split.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/plan_table.hpp"
#include "app/temperature_spectrum.hpp"
#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "convolve/convolution_smoothing.hpp"
#include "convolve/ring_convolution_estimate.hpp"
#include "convolve/split_convolution.hpp"
#include "convolve/split_plan.hpp"
#include "distribute/agree.hpp"

namespace ringweave {
namespace {

constexpr double arcmin = std::numbers::pi / (180 * 60);

KernelSplitSpec split_spec(Run& run, const SmoothJob& job) {
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
  spec.machine = {&run.machine, run.comm.size(), omp_get_max_threads()};
  spec.n_harmonic = job.options.harmonic_ranks;
  return spec;
}

std::string text_of(const SplitPlacement& placement, int n_ranks) {
  return placement.is_side_by_side()
             ? fmt::format("side by side, rings on {} rank(s) and harmonics on {}",
                           placement.ranks_of_rings(n_ranks), placement.n_harmonic)
             : "rings and harmonics one after the other";
}

void record_plan(Run& run, const SmoothJob& job, const SplitJob& split,
                 const MemoryEstimate& estimate) {
  const SplitPlan& plan = split.plan;
  const SplitPrediction predicted = predict_split(run, job, split);
  const SplitCandidate& best = split.split.best();
  run.report["plan"] = {
      {"method", "split"},
      {"l_cut", best.l_cut},
      {"support_degrees", best.theta_cut / arcmin / 60},
      {"harmonic_ranks", plan.placement.n_harmonic},
      {"predicted_seconds", predicted.total.seconds},
      {"predicted_uncertainty_seconds", predicted.total.sigma},
      {"predicted_stages",
       {{"rings", predicted.rings.seconds},
        {"harmonic", predicted.harmonic.seconds},
        {"sending", predicted.sending.seconds}}},
      {"harmonic_seconds", split.split.harmonic_only_seconds()},
  };
  record_memory(run, estimate);
  if (!run.options.dry_run && !run.options.verbose) return;
  run.say(fmt::format("plan: {}, split method, {} map(s), {} rank(s) x {} thread(s)",
                      job.grid->name(), plan.rings.spec().n_maps, run.comm.size(),
                      omp_get_max_threads()));
  run.say(fmt::format("  l_cut {}, theta_cut {:.4g} arcmin, error {:.2g}", best.l_cut,
                      best.theta_cut / arcmin, split.split.error().total));
  run.say("  " + text_of(plan.placement, run.comm.size()));
  PlanTable table(run);
  table.count("rings", plan.own.n_rings());
  table.count("pixels", plan.own.n_pixels());
  table.bytes("halo sent per convolution", plan.does_rings() ? halo_bytes_to_send(plan.rings) : 0);
  table.memory(estimate);
  run.say(fmt::format(
      "  predicted: {} (rings {:.2g}, harmonics {:.2g}, sending {:.2g}); all degrees of the a_lm "
      "about {:.2g} s",
      seconds_text(predicted.total), predicted.rings.seconds, predicted.harmonic.seconds,
      predicted.sending.seconds, split.split.harmonic_only_seconds()));
}

template <class T>
void run_with(Run& run, const SmoothJob& job, const SplitJob& split) {
  const SmoothOptions& options = job.options;
  const LocalRings& own = split.plan.own;
  const std::int64_t n_maps = split.plan.rings.spec().n_maps;
  MapBuffer<T> map = read_map<T>(run, options.input, *job.reader, job.choice, own);
  run.progress.stage("convolving");
  SplitConvolution convolution(run.comm, split.split, job.grid, n_maps, sizeof(T));
  auto smoothed = agreed(run.comm, [&] { return MapBuffer<T>(n_maps, own.n_pixels()); });
  const ConvolutionSmoothingReport report = naming(options.input, [&] {
    return smooth_by<T>(run.comm, convolution, job.smoothing, map.view(), smoothed.view());
  });
  for (const auto& [stage, entry] : convolution.times().entries())
    run.times.add(stage, entry.seconds);
  if (convolution.ring_convolution() != nullptr) {
    for (const auto& [stage, entry] : convolution.ring_convolution()->times().entries())
      run.times.add("rings: " + stage, entry.seconds);
  }
  if (convolution.transform() != nullptr) {
    for (const auto& [stage, entry] : convolution.transform()->times().entries())
      run.times.add(stage, entry.seconds);
  }
  tell_treatment(run, job, report.unseen_pixels, report.removed);
  Provenance provenance = provenance_of(run, job);
  provenance.method = "split";
  provenance.support_degrees = split.split.best().theta_cut / arcmin / 60;
  provenance.kernel_error = split.split.error().total;
  provenance.lmax = split.split.best().l_cut;
  write_smoothed<T>(run, job, provenance, own, smoothed.view());
  run.conclusion = fmt::format(
      "{}: {} smoothed with {}, split method, l_cut {}, support {:.4g} degrees, error {:.2g}",
      options.output, job.choice.name, options.fwhm + options.beam + options.kernel,
      split.split.best().l_cut, split.split.best().theta_cut / arcmin / 60,
      split.split.error().total);
}

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
  refuse_device(job.options.transform.backend, "--method split");
  if (job.options.harmonic_ranks.value_or(0) >= run.comm.size()) {
    throw UsageError(fmt::format(
        "--harmonic-ranks {}: expected 0 to {}, for {} rank(s) in all must do the rings "
        "too; start more ranks, or leave it out",
        *job.options.harmonic_ranks, run.comm.size() - 1, run.comm.size()));
  }
  const std::int64_t n_maps = job.choice.fields.n_components();
  require_memory_for(run, *job.grid, 2 * n_maps, job.precision);
  const KernelSplitSpec spec = split_spec(run, job);
  run.progress.stage("splitting the kernel");
  return agreed(run.comm, [&] {
    KernelSplit split(spec);
    if (!split.has_parts()) throw UsageError("--method split: " + split.reason());
    const SplitMaps maps{job.grid, n_maps, bytes_of(job.precision)};
    SplitPlan plan(split, maps, run.comm.rank(), run.comm.size());
    return SplitJob{std::move(split), std::move(plan)};
  });
}

SplitPrediction predict_split(const Run& run, const SmoothJob& job, const SplitJob& split) {
  const SplitPlan& plan = split.plan;
  const int n = job.is_normalized() ? 2 : 1;
  SplitPrediction of;
  of.rings = of_slowest(
      run.comm, n * estimate_convolution(plan.rings, run.machine, omp_get_max_threads()).total());
  if (plan.harmonic) of.harmonic = predict_transforms(run, *plan.harmonic, {2 * n, 0, false}).total;
  of.total = of.rings + of.harmonic;
  if (!plan.placement.is_side_by_side()) return of;
  const RingConvolutionSpec& maps = plan.rings.spec();
  const double doubles =
      static_cast<double>(n * maps.n_maps * maps.bytes_per_pixel) / sizeof(double);
  const double seconds = split.split.best().sending_seconds;
  of.sending = doubles * Estimate{seconds, seconds * run.machine.network.uncertainty};
  of.total = (of.rings.seconds > of.harmonic.seconds ? of.rings : of.harmonic) + of.sending;
  return of;
}

void smooth_by_split(Run& run, const SmoothJob& job, const SplitJob& split) {
  stay_on_host(run, job.options.transform.backend, "--method split");
  const MaskSmoothing mask = job.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
  const MemoryEstimate estimate = estimate_memory(split.plan, mask, job.precision);
  record_plan(run, job, split, estimate);
  require_memory(run, estimate);
  if (run.options.dry_run) return;
  with_storage(job.precision, [&](auto storage) { run_with<decltype(storage)>(run, job, split); });
}

void smooth_with_split(Run& run, SmoothJob& job) {
  smooth_by_split(run, job, plan_split(run, job));
}

}  // namespace ringweave
