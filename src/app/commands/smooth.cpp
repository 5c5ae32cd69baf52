// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/smooth_choice.hpp"
#include "app/commands/smooth_rings.hpp"
#include "app/commands/smooth_split.hpp"
#include "base/error.hpp"

namespace ringweave {
namespace {

/// What one program's smoothing does when nothing is said.
struct Compatibility {
  int n_iter;
  const char* unseen;
  const char* remove;
  bool put_back;
  bool lmax_is_two_nside;
};

Compatibility compatibility(const std::string& name) {
  if (name == "healpy") return {3, "restore", "none", false, false};
  if (name == "cxx") return {0, "zero", "monopole", true, false};
  if (name == "f90") return {0, "zero", "none", false, true};
  throw UsageError(fmt::format("--compat {}: expected healpy, cxx or f90", name));
}

bool is_on_rings(const SmoothOptions& options) {
  if (options.harmonic_ranks && options.method != "split") {
    throw UsageError(
        "--harmonic-ranks: only --method split has two parts to deal to ranks; add it, or leave "
        "--harmonic-ranks out");
  }
  if (options.method == "ring" || options.method == "split") {
    if (options.method == "split" && !options.support.empty()) {
      throw UsageError("--support: --method split finds the support itself; leave it out");
    }
    return true;
  }
  if (options.method != "auto" && options.method != "harmonic") {
    throw UsageError(
        fmt::format("--method {}: expected auto, harmonic, ring or split", options.method));
  }
  const bool is_harmonic = options.method == "harmonic";
  const char* of_rings = !options.support.empty()                   ? "--support"
                         : is_harmonic && !options.input_cl.empty() ? "--input-cl"
                                                                    : nullptr;
  if (of_rings != nullptr) {
    throw UsageError(fmt::format("{}: only --method ring cuts the kernel; add it, or leave {} out",
                                 of_rings, of_rings));
  }
  return false;
}

/// UsageError where an option speaks of an analysis of all degrees and there is none: all scalar
/// fields go by rings, or by a split kernel up to --lmax.
void refuse_transform_options(const SmoothOptions& options) {
  const bool is_split = options.method == "split";
  const AnalysisOptions& analysis = options.analysis;
  const char* given = analysis.n_iter.value_or(0) > 0            ? "--iter"
                      : analysis.tolerance > 0                   ? "--tol"
                      : analysis.weights != "none"               ? "--weights"
                      : !is_split && options.transform.lmax >= 0 ? "--lmax"
                      : options.transform.mmax >= 0              ? "--mmax"
                      : options.transform.exchange != "double"   ? "--exchange"
                                                                 : nullptr;
  if (given == nullptr) return;
  throw UsageError(
      fmt::format("{} has no meaning with --method {}, which {}; leave it out, or use --method "
                  "harmonic",
                  given, options.method,
                  is_split ? "takes the kernel's few degrees as they are"
                           : "sums over pixels and makes no a_lm"));
}

SmoothingOptions smoothing_of(const AnalysisOptions& analysis, int usual_n_iter) {
  SmoothingOptions smoothing;
  smoothing.tolerance = analysis.tolerance;
  smoothing.n_iter = analysis.tolerance > 0 ? 0 : analysis.n_iter.value_or(usual_n_iter);
  smoothing.unseen = unseen_policy(analysis.unseen);
  smoothing.remove = remove_choice(analysis.remove);
  smoothing.put_back = analysis.put_back ? MapTreatment::PutBack::yes : MapTreatment::PutBack::no;
  return smoothing;
}

template <class T>
void run_with(Run& run, const SmoothJob& job, SphericalHarmonicTransform& transform) {
  MapBuffer<T> map =
      read_map<T>(run, job.options.input, *job.reader, job.choice, transform.rings());
  run.progress.stage("smoothing");
  const SmoothingReport report = smooth_fields<T>(run, job, transform, job.smoothing, map.view());
  record_transform(run, transform, {report.analysis.transforms, report.mask_transforms});
  transform.release_workspace();
  run.report["analysis"] = {{"iterations", report.analysis.iterations},
                            {"residuals", report.analysis.residuals}};
  tell_treatment(run, job, report.unseen_pixels, report.removed);

  Provenance provenance = provenance_of(run, job);
  provenance.method = "harmonic";
  provenance.lmax = transform.spec().lmax;
  provenance.iterations = report.analysis.iterations;
  write_smoothed<T>(run, job, provenance, transform.rings(), map.view());
  const SmoothOptions& options = job.options;
  run.conclusion =
      fmt::format("{}: {} smoothed with {}, harmonic method, lmax {}, {} iterations",
                  options.output, job.choice.name, options.fwhm + options.beam + options.kernel,
                  transform.spec().lmax, report.analysis.iterations);
}

}  // namespace

void smooth_with_transform(Run& run, SmoothJob& job) {
  TransformSpec spec =
      make_spec(job.options.transform, job.grid, job.choice.fields, job.usual_lmax);
  spec.backend = choose_backend(run, job.options.transform.backend);
  require_memory_for(run, spec, job.precision);
  job.smoothing.beam = beam_of(run, job.options, spec.lmax);
  const HarmonicWay way = harmonic_way(run, job);
  const auto transform = plan_transform(run, spec, way.use, job.options.transform.backend);
  const MemoryEstimate estimate = estimate_memory(*transform, way.use);
  record_plan(run, *transform, estimate, way.count);
  require_memory(run, estimate);
  if (run.options.dry_run) return;

  job.smoothing.weights = load_weights(run, way.weights, transform->rings());
  with_storage(job.precision,
               [&](auto storage) { run_with<decltype(storage)>(run, job, *transform); });
}

int smooth(Run& run, const SmoothOptions& asked) {
  SmoothJob job;
  job.options = asked;
  SmoothOptions& options = job.options;
  const bool on_rings = is_on_rings(options);
  require_one_kernel(options);
  const Compatibility defaults = compatibility(options.compat);
  AnalysisOptions& analysis = options.analysis;
  if (analysis.unseen.empty()) analysis.unseen = defaults.unseen;
  if (analysis.remove.empty()) {
    analysis.remove = defaults.remove;
    analysis.put_back = analysis.put_back || defaults.put_back;
  }
  job.smoothing = smoothing_of(analysis, on_rings ? 0 : defaults.n_iter);

  run.outputs.announce(options.output, OutputContent::map);
  job.reader = open_map(run.comm, options.input);
  const MapHeader& header = job.reader->header();
  for (const std::string& warning : header.warnings) run.warn(options.input + ": " + warning);
  job.choice = choose_fields(options.input, header, options.transform.fields);
  if (job.choice.name == "all" && job.smoothing.remove != Remove::none)
    throw UsageError("--remove fits T; with --fields all use --remove none");
  const bool whole_sky =
      job.smoothing.n_iter > 0 || job.smoothing.tolerance > 0 || job.is_normalized();
  job.grid = grid_to_visit(*job.reader, whole_sky);
  job.usual_lmax = defaults.lmax_is_two_nside && job.grid->nside() > 0
                       ? checked_cast<int>(2 * job.grid->nside(), "lmax")
                       : job.grid->default_lmax();
  job.precision = storage_precision(options.transform.precision, header.precision);
  if (options.method == "auto") {
    smooth_the_fastest_way(run, job);
  } else if (options.method == "split") {
    refuse_transform_options(options);
    smooth_with_split(run, job);
  } else if (on_rings) {
    if (job.choice.fields.max_spin() == 0) refuse_transform_options(options);
    RingJob rings = plan_rings(run, job);
    smooth_on_rings(run, job, rings);
  } else {
    smooth_with_transform(run, job);
  }
  return 0;
}

}  // namespace ringweave
