// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/smooth_split.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include "app/plan_table.hpp"
#include "app/temperature_spectrum.hpp"
#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "convolve/convolution_smoothing.hpp"
#include "convolve/ring_convolution_estimate.hpp"
#include "convolve/split_convolution.hpp"
#include "distribute/agree.hpp"

namespace ringweave {
namespace {

constexpr double arcmin = std::numbers::pi / (180 * 60);

/// The parts of a split kernel on this rank, planned.
struct SplitJob {
  KernelSplit split;
  RingConvolutionPlan rings;
  std::optional<TransformPlan> harmonic;
};

KernelSplitSpec split_spec(Run& run, const SmoothJob& job) {
  const int lmax = job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
  KernelSplitSpec spec;
  spec.k_l = beam_of(run, job.options, lmax).t;
  spec.k_l.resize(to_size(std::int64_t{lmax} + 1), 0.0);
  if (!job.options.input_cl.empty()) {
    spec.cl = temperature_spectrum(run.comm, job.options.input_cl, "--input-cl");
    spec.cl.resize(spec.k_l.size(), 0.0);
  }
  spec.nside = job.grid->nside();
  spec.error = job.options.error.value_or(spec.error);
  spec.machine = {&run.machine, run.comm.size(), omp_get_max_threads()};
  return spec;
}

SplitJob plan_split(Run& run, const SmoothJob& job) {
  if (job.choice.fields.max_spin() > 0) {
    throw UsageError(
        "--method split convolves scalar fields, and Q and U need the harmonic way; use --fields T "
        "or --method harmonic");
  }
  if (job.grid->nside() == 0 || job.grid->is_subset()) {
    throw UsageError(
        fmt::format("--method split is for full HEALPix maps, and this is {}; use --method ring or "
                    "harmonic",
                    job.grid->name()));
  }
  const std::int64_t n_maps = job.choice.fields.n_components();
  require_memory_for(run, *job.grid, 2 * n_maps, job.precision);
  const KernelSplitSpec spec = split_spec(run, job);
  run.progress.stage("splitting the kernel");
  return agreed(run.comm, [&] {
    KernelSplit split(spec);
    if (!split.has_parts()) throw UsageError("--method split: " + split.reason());
    SplitPartSpecs parts(split, job.grid, n_maps, bytes_of(job.precision));
    SplitJob made{std::move(split),
                  RingConvolutionPlan(parts.rings, run.comm.rank(), run.comm.size()), std::nullopt};
    if (parts.harmonic) {
      parts.harmonic->ring_bands = std::make_shared<RingDistribution>(made.rings.bands());
      made.harmonic.emplace(*parts.harmonic, run.comm.rank(), run.comm.size());
    }
    return made;
  });
}

void record_plan(Run& run, const SmoothJob& job, const SplitJob& split,
                 const MemoryEstimate& estimate) {
  const int n = job.is_normalized() ? 2 : 1;
  const Estimate rings = of_slowest(
      run.comm, n * estimate_convolution(split.rings, run.machine, omp_get_max_threads()).total());
  const Estimate harmonic = split.harmonic
                                ? predict_transforms(run, *split.harmonic, {2 * n, 0, false}).total
                                : Estimate();
  const Estimate both = rings + harmonic;
  const SplitCandidate& best = split.split.best();
  run.report["plan"] = {
      {"method", "split"},
      {"l_cut", best.l_cut},
      {"support_degrees", best.theta_cut / arcmin / 60},
      {"predicted_seconds", both.seconds},
      {"predicted_uncertainty_seconds", both.sigma},
      {"predicted_stages", {{"rings", rings.seconds}, {"harmonic", harmonic.seconds}}},
      {"harmonic_seconds", split.split.harmonic_only_seconds()},
  };
  record_memory(run, estimate);
  if (!run.options.dry_run && !run.options.verbose) return;
  run.say(fmt::format("plan: {}, split method, {} map(s), {} rank(s) x {} thread(s)",
                      job.grid->name(), split.rings.spec().n_maps, run.comm.size(),
                      omp_get_max_threads()));
  run.say(fmt::format("  l_cut {}, theta_cut {:.4g} arcmin, error {:.2g}", best.l_cut,
                      best.theta_cut / arcmin, split.split.error().total));
  PlanTable table(run);
  table.count("rings", split.rings.own().n_rings());
  table.count("pixels", split.rings.own().n_pixels());
  table.bytes("halo sent per convolution", halo_bytes_to_send(split.rings));
  table.memory(estimate);
  run.say(fmt::format(
      "  predicted: {} (rings {:.2g}, harmonics {:.2g}); all degrees of the a_lm "
      "about {:.2g} s",
      seconds_text(both), rings.seconds, harmonic.seconds, split.split.harmonic_only_seconds()));
}

template <class T>
void run_with(Run& run, const SmoothJob& job, const SplitJob& split) {
  const SmoothOptions& options = job.options;
  const LocalRings& own = split.rings.own();
  MapBuffer<T> map = read_map<T>(run, options.input, *job.reader, job.choice, own);
  run.progress.stage("convolving");
  SplitConvolution convolution(run.comm, split.split, job.grid, split.rings.spec().n_maps,
                               sizeof(T));
  auto smoothed =
      agreed(run.comm, [&] { return MapBuffer<T>(split.rings.spec().n_maps, own.n_pixels()); });
  const ConvolutionSmoothingReport report = naming(options.input, [&] {
    return smooth_by<T>(run.comm, convolution, job.smoothing, map.view(), smoothed.view());
  });
  for (const auto& [stage, entry] : convolution.ring_convolution().times().entries())
    run.times.add("rings: " + stage, entry.seconds);
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

void smooth_with_split(Run& run, SmoothJob& job) {
  const SplitJob split = plan_split(run, job);
  RingMemoryUse use;
  use.n_components = job.choice.fields.n_components();
  use.mask = job.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
  if (split.harmonic) {
    use.harmonic = &*split.harmonic;
    use.harmonic_use.operation = Operation::smoothing_in_place;
    use.harmonic_use.precision = job.precision;
    use.harmonic_part = HarmonicPart::beside;
  }
  const MemoryEstimate estimate = estimate_memory(split.rings, use);
  record_plan(run, job, split, estimate);
  require_memory(run, estimate);
  if (run.options.dry_run) return;
  with_storage(job.precision, [&](auto storage) { run_with<decltype(storage)>(run, job, split); });
}

}  // namespace ringweave
