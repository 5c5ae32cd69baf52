// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <utility>

#include "app/backend_choice.hpp"
#include "app/map_batch.hpp"
#include "app/report/plan_table.hpp"
#include "app/sky_mask.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "base/checked_cast.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

double degrees(double radians) { return radians * 180 / std::numbers::pi; }

std::int64_t n_scalars_of(const FieldSet& fields) {
  return fields.max_spin() > 0 ? 1 : fields.n_components();
}

RingConvolutionPlan plan_for(Run& run, const SmoothJob& job, const CutKernel& cut) {
  RingConvolutionSpec spec;
  spec.backend = choose_backend(run, job.options.transform.backend);
  spec.grid = job.grid;
  spec.kernels = {cut.kernel};
  spec.n_maps = n_scalars_of(job.choice.fields);
  spec.error = cut.error_of_sums;
  spec.bytes_per_pixel = bytes_of(job.precision);
  return agreed(run.comm,
                [&] { return RingConvolutionPlan(spec, run.comm.rank(), run.comm.size()); });
}

void warn_if_slow(Run& run, const Estimate& rings, const Estimate& harmonic) {
  // Typical machines are good to a factor of two, and seconds are nothing to warn of.
  constexpr double clearly = 3;
  if (rings.seconds < 1 || rings.seconds < clearly * harmonic.seconds) return;
  run.warn(
      fmt::format("--method ring needs about {:.2g} s for this kernel, --method harmonic --iter 0 "
                  "about {:.2g} s; a larger --error or a smaller --support makes rings faster",
                  rings.seconds, harmonic.seconds));
}

/// Convolves scalar fields with the cut kernel, map by map. Q and U of a polarised map go the
/// harmonic way, on the same bands of rings.
class RingMethod final : public SmoothingMethod {
 public:
  RingMethod(Run& run, SmoothJob& job, CutKernel cut)
      : SmoothingMethod(run, job), cut_(std::move(cut)), plan_(plan_for(run, job, cut_)) {
    if (job.choice.fields.max_spin() == 0) return;
    TransformSpec harmonic =
        make_spec(job.options.transform, job.grid, FieldSet({2}), job.usual_lmax);
    harmonic.ring_bands = std::make_shared<RingDistribution>(plan_.bands());
    spins_.emplace(SpinPart{harmonic_way(run, job),
                            std::make_unique<SphericalHarmonicTransform>(run.comm, harmonic)});
  }

  std::string name() const override { return "ring"; }
  std::string label() const override { return "rings"; }
  double error() const override { return cut_.error; }
  Estimate predict() override {
    return of_slowest(run_.comm, predict_maps().total + estimate_planning(plan_, run_.machine));
  }

  std::vector<MapRange> plan() override {
    warn_where_raised(run_, job_.options, cut_.b_l);
    if (spins_)
      job_.smoothing.beam =
          beam_of(run_, job_.options, *job_.header.grid, spins_->transform->spec().lmax);
    return one_by_one(run_, job_.maps, job_.options.maps, "--method ring takes them so");
  }

  const LocalRings& rings() const override { return plan_.own(); }
  MemoryEstimate memory() const override {
    RingMemoryUse use;
    use.n_components = job_.choice.fields.n_components();
    use.mask = job_.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
    if (spins_) {
      use.harmonic = &spins_->transform->plan();
      use.harmonic_use = spins_->way.use;
      use.harmonic_use.beside.clear();  // beside both
    }
    MemoryEstimate estimate = estimate_memory(plan_, use);
    add_beside(mask_beside(job_.options.analysis), plan_.own(), estimate.items);
    return estimate;
  }

  void report_plan(const MemoryEstimate& estimate) override {
    const Prediction prediction = predict_maps();
    const RingConvolutionEstimate& of = prediction.stages;
    const int n = prediction.n_convolutions;
    const auto sent = static_cast<double>(halo_bytes_to_send(plan_));
    nlohmann::ordered_json& plan = run_.report["plan"];
    plan = {
        {"method", "ring"},
        {"halo_bytes", run_.comm.sum(sent)},
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
    record_memory(run_, estimate);
    for (const MemoryItem& item : estimate.items)
      plan["memory_bytes"][item.name] = run_.comm.sum(item.bytes);
    if (spins_) plan["harmonic"]["predicted_seconds"] = prediction.spins.seconds;
    if (run_.options.dry_run || run_.options.verbose) print_plan(estimate, prediction);
    warn_where_narrow(run_, cut_, *job_.grid);
    warn_if_slow(run_, prediction.total, prediction.harmonic);
  }

  void prepare() override {
    if (spins_) read_weights(spins_->way.weights);
  }
  SmoothingReport smooth(MapGroup<float>& group) override { return smooth_group(group); }
  SmoothingReport smooth(MapGroup<double>& group) override { return smooth_group(group); }
  void release() override {
    if (!convolution_) return;
    for (const auto& [stage, entry] : convolution_->times().entries())
      run_.times.add(stage, entry.seconds);
    convolution_.reset();
  }

  void record() override {
    run_.report["convolution"] = {
        {"method", "ring"},
        {"maps", n_scalars()},
        {"convolutions", n_convolutions_},
        {"support_degrees", degrees(plan_.support())},
        {"truncation_error", cut_.truncation},
        {"allowed_error", cut_.error},
        {"kernel_power_beyond_grid", cut_.beyond_grid},
        {"seconds", over_ranks(run_.comm, time_.seconds("convolution"))},
        {"halo_bytes_sent", run_.comm.sum(halo_bytes_)},
    };
    run_.report["layout"] = {
        {"rings", over_ranks(run_.comm, static_cast<double>(plan_.own().n_rings()))},
        {"pixels", over_ranks(run_.comm, static_cast<double>(plan_.own().n_pixels()))},
    };
    if (!spins_) return;
    record_transform(run_, *spins_->transform, spin_count_, PlanPart::harmonic);
    run_.say("T went by rings; Q and U, which have spin, the harmonic way");
  }

  std::string summary() const override {
    return fmt::format("ring method, support {:.4g} degrees, error of the cut {:.2g}",
                       degrees(plan_.support()), cut_.truncation);
  }

 private:
  /// Q and U.
  struct SpinPart {
    HarmonicWay way;
    std::unique_ptr<SphericalHarmonicTransform> transform;
  };
  /// Predicts all maps, and the harmonic method without iterations for the same fields.
  struct Prediction {
    int n_convolutions = 1;
    RingConvolutionEstimate stages;  ///< of one convolution
    Estimate total;
    Estimate harmonic;
    Estimate spins;  ///< of Q and U
  };

  std::int64_t n_scalars() const { return plan_.spec().n_maps; }

  Prediction predict_maps() const {
    const int n_maps = checked_cast<int>(job_.maps.n(), "maps");
    Prediction prediction;
    prediction.n_convolutions = n_maps * (job_.is_normalized() ? 2 : 1);
    prediction.stages = estimate_convolution(plan_, run_.machine, omp_get_max_threads());
    prediction.stages.halo = of_slowest(run_.comm, prediction.stages.halo);
    prediction.total = prediction.n_convolutions * prediction.stages.total();
    const FieldSet scalars = FieldSet::batch(0, static_cast<int>(n_scalars()));
    const TransformSpec spec = make_spec({}, job_.grid, scalars, job_.usual_lmax);
    const auto plan =
        agreed(run_.comm, [&] { return TransformPlan(spec, run_.comm.rank(), run_.comm.size()); });
    prediction.harmonic =
        n_maps * predict_transforms(run_, plan, {2, job_.is_normalized() ? 2 : 0, false}).total;
    if (spins_) {
      prediction.spins =
          n_maps * predict_transforms(run_, spins_->transform->plan(), spins_->way.count).total;
    }
    return prediction;
  }

  void print_plan(const MemoryEstimate& estimate, const Prediction& prediction) const {
    run_.say(fmt::format("plan: {}, ring method, {} map(s){}, {} rank(s) x {} thread(s)",
                         job_.grid->name(), n_scalars(), spins_ ? ", Q and U the harmonic way" : "",
                         run_.comm.size(), omp_get_max_threads()));
    run_.say(fmt::format(
        "  kernel cut at {:.4g} degrees, which costs {:.2g} of the rms; {:.2g} allowed in all",
        degrees(plan_.support()), cut_.truncation, cut_.error));
    PlanTable table(run_);
    table.count("rings", plan_.own().n_rings());
    table.count("pixels", plan_.own().n_pixels());
    table.bytes("halo sent per convolution", halo_bytes_to_send(plan_));
    table.memory(estimate);
    const RingConvolutionEstimate& of = prediction.stages;
    const int n = prediction.n_convolutions;
    run_.say(fmt::format(
        "  predicted: {} on rings (stencil {:.2g}, sectors {:.2g}, ring FFT {:.2g}, modes {:.2g}, "
        "halo {:.2g}); the harmonic way {}",
        seconds_text(prediction.total), n * of.stencil.seconds, n * of.sectors.seconds,
        n * of.ring_fft.seconds, n * of.modes.seconds, n * of.halo.seconds,
        seconds_text(prediction.harmonic)));
    if (spins_)
      run_.say(fmt::format("  predicted: {} for Q and U", seconds_text(prediction.spins)));
  }

  template <class T>
  SmoothingReport smooth_group(MapGroup<T>& group) {
    SmoothingReport report = convolve(group);
    group.provenance.support_degrees = degrees(plan_.support());
    group.provenance.kernel_error = cut_.truncation;
    if (!spins_) return report;
    if (job_.maps.is_single()) run_.progress.stage("smoothing Q and U");
    SmoothingOptions smoothing = job_.smoothing;
    smoothing.remove = Remove::none;
    const SmoothingReport spins = smooth_fields<T>(run_, job_, *spins_->transform, smoothing, group,
                                                   group.map.view().components(1, 2));
    spin_count_ += count_of(spins);
    // The next map's convolution needs its memory.
    spins_->transform->release_workspace();
    const std::vector<std::int64_t>& of_spins = spins.maps.front().unseen_pixels;
    std::vector<std::int64_t>& all = report.maps.front().unseen_pixels;
    all.insert(all.end(), of_spins.begin(), of_spins.end());
    return report;
  }

  /// On the host where the device that --backend auto took has too little memory.
  void make_convolution() {
    try {
      convolution_.emplace(run_.comm, plan_.spec());
    } catch (const ResourceError& failure) {
      if (plan_.spec().backend != Backend::cuda || job_.options.transform.backend != "auto") throw;
      RingConvolutionSpec on_host = plan_.spec();
      on_host.backend = give_up_device(run_, failure.what());
      convolution_.emplace(run_.comm, on_host);
    }
  }

  /// The scalar fields. Alone they come back in their own memory, without the input; before Q and U
  /// they take the input's place.
  template <class T>
  SmoothingReport convolve(MapGroup<T>& group) {
    if (job_.maps.is_single()) run_.progress.stage("convolving");
    MapBuffer<T>& map = group.map;
    auto smoothed =
        agreed(run_.comm, [&] { return MapBuffer<T>(n_scalars(), rings().n_pixels()); });
    if (!convolution_) make_convolution();
    SmoothingReport report;
    {
      const StageTimer timer(&time_, "convolution");
      report = with_path(job_.maps.to_do[to_size(group.range.first)].input, [&] {
        return smooth_on_rings<T>(run_.comm, *convolution_, job_.smoothing,
                                  map.view().components(0, n_scalars()), smoothed.view());
      });
    }
    n_convolutions_ += report.convolutions;
    halo_bytes_ = convolution_->halo_bytes_sent();
    if (spins_) {
      // Q and U need its memory.
      release();
      std::copy_n(smoothed.view().data(), smoothed.size(), map.view().data());
    } else {
      map = std::move(smoothed);
    }
    return report;
  }

  CutKernel cut_;
  RingConvolutionPlan plan_;
  std::optional<SpinPart> spins_;
  std::optional<RingConvolution> convolution_;
  StageTimes time_;
  int n_convolutions_ = 0;
  std::int64_t halo_bytes_ = 0;  ///< sent by this rank in one convolution
  TransformCount spin_count_;
};

}  // namespace

CutKernel cut_for_rings(Run& run, const SmoothJob& job) {
  const FieldSet& fields = job.choice.fields;
  if (fields.max_spin() > 0 && fields.n_components() == 2) {
    throw UsageError(
        "--method ring convolves scalar fields, and this map has Q and U only, which need the "
        "harmonic way; use --method harmonic --iter 0");
  }
  require_memory_for(run, *job.grid, fields.n_components() + n_scalars_of(fields), job.precision);
  return cut_kernel(run, job.options, *job.grid, job.precision);
}

std::unique_ptr<SmoothingMethod> ring_method(Run& run, SmoothJob& job, CutKernel cut) {
  return std::make_unique<RingMethod>(run, job, std::move(cut));
}

}  // namespace ringweave::detail::inline app
