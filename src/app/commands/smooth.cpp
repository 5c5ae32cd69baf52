// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <memory>

#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/maps/map_batch.hpp"
#include "app/smooth/smooth_choice.hpp"
#include "app/smooth/smooth_maps.hpp"
#include "app/smooth/smooth_rings.hpp"
#include "app/smooth/smooth_split.hpp"
#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "distribute/mpi/agree.hpp"

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
  smoothing.put_back = analysis.put_back ? MaskOptions::PutBack::yes : MaskOptions::PutBack::no;
  return smoothing;
}

/// A way through harmonic space for several maps at a time.
struct HarmonicPlan {
  TransformSpec spec;  ///< of one map
  HarmonicWay way;
  std::vector<MapRange> groups;
  std::unique_ptr<SphericalHarmonicTransform> transform;  ///< of the largest group

  TransformSpec spec_of(std::int64_t n_maps) const {
    TransformSpec batch = spec;
    batch.fields = fields_of(spec.fields, n_maps);
    batch.theta_components = spec.fields.n_components();
    return batch;
  }
};

TransformCount times(const TransformCount& count, std::int64_t n) {
  const int factor = checked_cast<int>(n, "groups of maps");
  return {factor * count.all_fields, factor * count.mask, count.is_a_guess,
          factor * count.all_fields_on_spectra, factor * count.mask_on_spectra};
}

HarmonicPlan plan_harmonic(Run& run, SmoothJob& job) {
  HarmonicPlan plan;
  plan.spec = make_spec(job.options.transform, job.grid, job.choice.fields, job.usual_lmax);
  plan.spec.backend = choose_backend(run, job.options.transform.backend);
  require_memory_for(run, plan.spec, job.precision);
  job.smoothing.beam = beam_of(run, job.options, plan.spec.lmax);
  plan.way = harmonic_way(run, job);
  const auto memory = [&](const std::vector<MapRange>& groups) {
    const TransformPlan one = agreed(run.comm, [&] {
      return TransformPlan(plan.spec_of(groups.front().count), run.comm.rank(), run.comm.size());
    });
    return with_others(estimate_memory(one, plan.way.use), groups, bytes_of_map(job, one.rings));
  };
  plan.groups =
      job.smoothing.tolerance > 0
          ? one_by_one(run, job.maps, job.options.maps, "--tol couples what goes together")
          : choose_groups(run, job.maps, job.options.maps, plan.spec.fields.n_components(), memory);
  plan.transform = plan_transform(run, plan.spec_of(plan.groups.front().count), plan.way.use,
                                  job.options.transform.backend);
  return plan;
}

/// The harmonic way of all maps of a job.
template <class T>
class HarmonicRun {
 public:
  HarmonicRun(Run& run, const SmoothJob& job, HarmonicPlan& plan)
      : run_(run),
        job_(job),
        plan_(plan),
        rings_(plan.transform->rings()),
        map_run_(run, job.maps, plan.groups) {}

  int smooth() {
    const MapSteps<SmoothedMaps<T>> steps{reading_maps<T>(run_, job_, rings_),
                                          [this](Group& group) { compute(group); },
                                          writing_maps<T>(run_, job_, rings_)};
    const MapsDone done = run_maps(map_run_, steps);
    record_transform(run_, *plan_.transform, count_);
    return conclude_smoothing(
        run_, job_, done,
        fmt::format("harmonic method, lmax {}, {} iterations", plan_.spec.lmax, iterations_));
  }

 private:
  using Group = MapGroup<SmoothedMaps<T>>;

  /// Of the last groups, which may be smaller.
  void plan_for(std::int64_t n_maps) {
    if (plan_.transform->fields().n_components() == n_maps * plan_.spec.fields.n_components())
      return;
    record_transform(run_, *plan_.transform, count_);
    count_ = {};
    plan_.transform.reset();
    plan_.transform =
        plan_transform(run_, plan_.spec_of(n_maps), plan_.way.use, job_.options.transform.backend);
  }

  void compute(Group& group) {
    const MapRange& range = group.range;
    plan_for(range.count);
    if (job_.maps.is_single()) run_.progress.stage("smoothing");
    const SmoothingReport report = smooth_fields<T>(
        run_, job_, *plan_.transform, job_.smoothing, range,
        group.maps.map.view().components(0, plan_.transform->fields().n_components()));
    count_ += count_of(report);
    if (map_run_.is_last(range)) plan_.transform->release_workspace();
    iterations_ = report.analysis.iterations;
    run_.report["analysis"] = {{"iterations", report.analysis.iterations},
                               {"residuals", report.analysis.residuals}};
    for (std::int64_t i = 0; i < range.count; ++i)
      tell_treatment(run_, job_, range.first + i, report.maps[to_size(i)]);
    Provenance& provenance = group.maps.provenance;
    provenance = provenance_of(run_, job_);
    provenance.method = "harmonic";
    provenance.lmax = plan_.spec.lmax;
    provenance.iterations = report.analysis.iterations;
  }

  Run& run_;
  const SmoothJob& job_;
  HarmonicPlan& plan_;
  LocalRings rings_;  ///< those of every transform
  TransformCount count_;
  int iterations_ = 0;
  MapRun map_run_;
};

}  // namespace

int smooth_with_transform(Run& run, SmoothJob& job) {
  HarmonicPlan plan = plan_harmonic(run, job);
  const LocalRings& rings = plan.transform->rings();
  const MemoryEstimate estimate = with_others(estimate_memory(*plan.transform, plan.way.use),
                                              plan.groups, bytes_of_map(job, rings));
  tell_groups(run, job.maps, plan.groups);
  record_plan(run, *plan.transform, estimate, times(plan.way.count, ssize64(plan.groups)));
  record_files(run, files_of(job));
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;

  job.smoothing.weights =
      std::make_shared<const AnalysisWeights>(load_weights(run, plan.way.weights, rings));
  return with_storage(job.precision, [&](auto storage) {
    return HarmonicRun<decltype(storage)>(run, job, plan).smooth();
  });
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

  job.maps = list_smoothings(run, options);
  if (job.maps.to_do.empty()) {
    report_nothing_to_do(run, job.maps);
    return 0;
  }
  open_inputs(run, job);
  if (job.choice.name == "all" && job.smoothing.remove != Remove::none)
    throw UsageError("--remove fits T; with --fields all use --remove none");
  job.usual_lmax = defaults.lmax_is_two_nside && job.grid->nside() > 0
                       ? checked_cast<int>(2 * job.grid->nside(), "lmax")
                       : job.grid->default_lmax();
  job.precision = storage_precision(options.transform.precision, job.header.precision);
  if (options.method == "auto") return smooth_the_fastest_way(run, job);
  if (options.method == "split") {
    refuse_transform_options(options);
    return smooth_with_split(run, job);
  }
  if (!on_rings) return smooth_with_transform(run, job);
  if (job.choice.fields.max_spin() == 0) refuse_transform_options(options);
  RingJob rings = plan_rings(run, job);
  return smooth_on_rings(run, job, rings);
}

}  // namespace ringweave
