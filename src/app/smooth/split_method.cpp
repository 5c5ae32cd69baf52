// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/backend_choice.hpp"
#include "app/cli/angle.hpp"
#include "app/map_batch.hpp"
#include "app/report/plan_table.hpp"
#include "app/sky_mask.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "base/checked_cast.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/smoothing.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

KernelSplitSpec split_spec(Run& run, const SmoothJob& job, const HarmonicPart& harmonic) {
  const int lmax = job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
  KernelSplitSpec spec;
  spec.k_l = beam_of(run, job.options, *job.header.grid, lmax).t;
  spec.k_l.resize(to_size(std::int64_t{lmax} + 1), 0.0);
  if (!job.options.input_cl.empty()) {
    spec.cl = temperature_spectrum(run, job.options.input_cl, "--input-cl", job.options.cl_kind);
    if (spec.cl.size() < spec.k_l.size()) spec.cl.resize(spec.k_l.size(), 0.0);
  }
  spec.nside = job.grid->nside();
  spec.error = job.options.error.value_or(spec.error);
  const std::int64_t n_threads = run.comm.min(std::int64_t{omp_get_max_threads()});
  spec.n_ranks = run.comm.size();
  spec.n_threads = checked_cast<int>(n_threads, "threads");
  spec.harmonic = harmonic;
  spec.machine =
      std::make_shared<const SplitMachine>(SplitMachine{&run.machine, ranks_of_device(run)});
  spec.n_harmonic = job.options.harmonic_ranks;
  return spec;
}

bool has_harmonic_on_device(const SplitPlan& plan) {
  return plan.harmonic && plan.harmonic->spec.backend == Backend::cuda;
}

std::string text_of(const SplitPlan& plan) {
  const char* device = has_harmonic_on_device(plan) ? ", these on a device" : "";
  const SplitPlacement& placement = plan.placement;
  if (placement.is_side_by_side()) {
    return fmt::format("side by side, rings on {} rank(s) and harmonics on {}{}",
                       placement.ranks_of_rings(plan.n_ranks), placement.n_harmonic, device);
  }
  return fmt::format("rings and harmonics {}{}", plan.at_once ? "at once" : "one after the other",
                     device);
}

/// The split of a job's kernel, and who does which part of it.
struct SplitSearch {
  KernelSplit split;
  SplitMaps maps;
  SplitPlan plan;
  std::vector<double> k_l;
};

/// The fastest split. Collective.
SplitSearch search_split(Run& run, const SmoothJob& job) {
  if (const std::string why = why_not_split(job); !why.empty()) {
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
  SplitSearch found = agreed(run.comm, [&] {
    KernelSplit kernel(spec);
    if (!kernel.has_parts()) throw UsageError("--method split: " + kernel.reason());
    SplitPlan plan(kernel, maps, run.comm.rank(), run.comm.size());
    return SplitSearch{std::move(kernel), maps, std::move(plan), spec.k_l};
  });
  agree_same(run.comm, "the split of the kernel", found.split.best().l_cut);
  return found;
}

/// Takes few degrees through a_lm and the rest of the kernel on the rings, map by map.
class SplitMethod final : public SmoothingMethod {
 public:
  SplitMethod(Run& run, SmoothJob& job)
      : SmoothingMethod(run, job), search_(search_split(run, job)) {}

  std::string name() const override { return "split"; }
  std::string label() const override {
    return fmt::format("split at l_cut {}", search_.split.best().l_cut);
  }
  double error() const override { return search_.split.error().total; }
  Estimate predict() override {
    const SplitPlan& plan = search_.plan;
    Estimate planning = estimate_planning(plan.rings, run_.machine);
    if (plan.harmonic) planning = planning + estimate_planning(plan.harmonic->spec, run_.machine);
    return predict_maps().total + planning;
  }

  std::vector<MapRange> plan() override {
    warn_where_raised(run_, job_.options, search_.k_l);
    return one_by_one(run_, job_.maps, job_.options.maps, "--method split takes them so");
  }

  const LocalRings& rings() const override { return search_.plan.own; }
  MemoryEstimate memory() const override {
    const MaskSmoothing mask = job_.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
    MemoryEstimate estimate = estimate_memory(search_.plan, mask, job_.precision);
    add_beside(mask_beside(job_.options.analysis), rings(), estimate.items);
    return estimate;
  }

  void report_plan(const MemoryEstimate& estimate) override {
    const Prediction predicted = predict_maps();
    const SplitCandidate& best = search_.split.best();
    run_.report["plan"] = {
        {"method", "split"},
        {"l_cut", best.l_cut},
        {"support_degrees", best.theta_cut / arcmin / 60},
        {"harmonic_ranks", search_.plan.placement.n_harmonic},
        {"at_once", search_.plan.at_once},
        {"predicted_seconds", predicted.total.seconds},
        {"predicted_uncertainty_seconds", predicted.total.sigma},
        {"predicted_stages",
         {{"rings", predicted.rings.seconds},
          {"harmonic", predicted.harmonic.seconds},
          {"sending", predicted.sending.seconds}}},
        {"harmonic_seconds", search_.split.harmonic_only().seconds},
    };
    record_memory(run_, estimate);
    if (run_.options.dry_run || run_.options.verbose) print_plan(estimate, predicted);
  }

  SmoothingReport smooth(MapGroup<float>& group) override { return smooth_group(group); }
  SmoothingReport smooth(MapGroup<double>& group) override { return smooth_group(group); }
  void release() override {
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

  std::string summary() const override {
    const SplitCandidate& best = search_.split.best();
    return fmt::format("split method, l_cut {}, support {:.4g} degrees, error {:.2g}", best.l_cut,
                       best.theta_cut / arcmin / 60, error());
  }

 private:
  /// Seconds of all maps, with the mask's.
  struct Prediction {
    Estimate rings;
    Estimate harmonic;
    Estimate sending;
    Estimate total;
  };

  Prediction predict_maps() const {
    const SplitPlan& plan = search_.plan;
    const int n = job_.is_normalized() ? 2 : 1;
    Prediction of;
    of.rings = of_slowest(
        run_.comm,
        n * estimate_convolution(plan.rings, run_.machine, omp_get_max_threads()).total());
    if (plan.harmonic)
      of.harmonic = predict_transforms(run_, *plan.harmonic, {2 * n, 0, false}).total;
    if (plan.placement.is_side_by_side()) {
      const RingConvolutionSpec& maps = plan.rings.spec();
      const double doubles =
          static_cast<double>(n * maps.n_maps * maps.bytes_per_pixel) / sizeof(double);
      of.sending = doubles * search_.split.best().sending;
      of.total = longer(of.harmonic, of.rings) + of.sending;
    } else {
      of.total = plan.at_once ? longer(of.harmonic, of.rings) : of.rings + of.harmonic;
    }
    for (Estimate* part : {&of.rings, &of.harmonic, &of.sending, &of.total})
      *part = static_cast<double>(job_.maps.n()) * *part;
    return of;
  }

  void print_plan(const MemoryEstimate& estimate, const Prediction& predicted) const {
    const SplitPlan& plan = search_.plan;
    const SplitCandidate& best = search_.split.best();
    run_.say(fmt::format("plan: {}, split method, {} map(s), {} rank(s) x {} thread(s)",
                         job_.grid->name(), plan.rings.spec().n_maps, run_.comm.size(),
                         omp_get_max_threads()));
    run_.say(fmt::format("  l_cut {}, theta_cut {:.4g} arcmin, error {:.2g}", best.l_cut,
                         best.theta_cut / arcmin, error()));
    run_.say("  " + text_of(plan));
    PlanTable table(run_);
    table.count("rings", plan.own.n_rings());
    table.count("pixels", plan.own.n_pixels());
    table.bytes("halo sent per convolution",
                plan.does_rings() ? halo_bytes_to_send(plan.rings) : 0);
    table.memory(estimate);
    if (has_harmonic_on_device(plan)) {
      table.bytes("device, harmonic part",
                  plan.does_harmonic() ? plan_device_memory(*plan.harmonic).total() : 0);
    }
    run_.say(fmt::format(
        "  predicted: {} (rings {:.2g}, harmonics {:.2g}, sending {:.2g}); all degrees of the a_lm "
        "{}",
        seconds_text(predicted.total), predicted.rings.seconds, predicted.harmonic.seconds,
        predicted.sending.seconds, seconds_text(search_.split.harmonic_only())));
  }

  /// On the host where the device that --backend auto took is of no use.
  void make_convolution() {
    SplitMaps maps = search_.maps;
    const auto make = [&] {
      convolution_ = std::make_unique<SplitConvolution>(run_.comm, search_.split, maps);
    };
    try {
      make();
    } catch (const ResourceError& failure) {
      if (maps.harmonic.backend != Backend::cuda || job_.options.transform.backend != "auto") throw;
      maps.harmonic = {give_up_device(run_, failure.what())};
      run_.report["plan"]["at_once"] = false;
      make();
    }
    const SphericalHarmonicTransform* transform = convolution_->transform();
    if (run_.comm.min(std::int64_t{transform != nullptr}) == 1) record_device(run_, *transform);
  }

  template <class T>
  SmoothingReport smooth_group(MapGroup<T>& group) {
    if (job_.maps.is_single()) run_.progress.stage("convolving");
    if (convolution_ == nullptr) make_convolution();
    MapBuffer<T>& map = group.map;
    auto smoothed = agreed(run_.comm, [&] {
      return MapBuffer<T>(search_.plan.rings.spec().n_maps, rings().n_pixels());
    });
    const SmoothingReport report =
        with_path(job_.maps.to_do[to_size(group.range.first)].input, [&] {
          return smooth_on_rings<T>(run_.comm, *convolution_, job_.smoothing, map.view(),
                                    smoothed.view());
        });
    map = std::move(smoothed);
    group.provenance.support_degrees = search_.split.best().theta_cut / arcmin / 60;
    group.provenance.kernel_error = error();
    group.provenance.lmax = search_.split.best().l_cut;
    return report;
  }

  SplitSearch search_;
  std::unique_ptr<SplitConvolution> convolution_;
};

}  // namespace

std::string why_not_split(const SmoothJob& job) {
  if (job.choice.fields.max_spin() > 0)
    return "it convolves scalar fields, and Q and U need the harmonic way";
  if (job.grid->nside() == 0 || job.grid->is_subset())
    return fmt::format("it is for full HEALPix maps, and this is {}", job.grid->name());
  return "";
}

std::unique_ptr<SmoothingMethod> split_method(Run& run, SmoothJob& job) {
  return std::make_unique<SplitMethod>(run, job);
}

}  // namespace ringweave::detail::inline app
