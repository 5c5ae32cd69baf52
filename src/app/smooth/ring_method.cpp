// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "app/backend_choice.hpp"
#include "app/map_batch.hpp"
#include "app/predict/device_memory.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "app/sky_mask.hpp"
#include "app/smooth/convolution_method.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "base/checked_cast.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

double degrees(double radians) { return radians * 180 / std::numbers::pi; }

RingConvolutionPlan plan_of(Run& run, const SmoothJob& job, const CutKernel& cut,
                            RingConvolutionSpec spec) {
  spec.grid = job.grid;
  spec.error = cut.error_of_sums;
  spec.bytes_per_pixel = bytes_of(job.precision);
  return agreed(run.comm,
                [&] { return RingConvolutionPlan(spec, run.comm.rank(), run.comm.size()); });
}

/// Plans the convolution of Q and U.
std::optional<RingConvolutionPlan> plan_of_spins(Run& run, const SmoothJob& job,
                                                 const CutKernel& cut) {
  if (!cut.spin) return std::nullopt;
  RingConvolutionSpec spec;
  spec.kernels = {*cut.spin};
  if (cut.conjugate) spec.conjugate_kernels = {*cut.conjugate};
  spec.n_maps = job.n_spin_maps();
  return plan_of(run, job, cut, spec);
}

/// Plans the convolution of scalar fields, or of the masks that Q and U are divided by, on the
/// rings of Q and U.
std::optional<RingConvolutionPlan> plan_of_scalars(
    Run& run, const SmoothJob& job, const CutKernel& cut,
    const std::optional<RingConvolutionPlan>& spins) {
  const std::int64_t n_scalars = job.n_scalars();
  if (n_scalars == 0 && !job.is_normalized()) return std::nullopt;
  RingConvolutionSpec spec;
  spec.kernels = {cut.kernel};
  spec.n_maps = std::max<std::int64_t>(n_scalars, 1);
  if (spins) spec.ring_bands = std::make_shared<const RingDistribution>(spins->bands());
  return plan_of(run, job, cut, spec);
}

void add_stages(RingConvolutionEstimate& sum, int n, const RingConvolutionEstimate& of) {
  sum.stencil = sum.stencil + n * of.stencil;
  sum.sectors = sum.sectors + n * of.sectors;
  sum.ring_fft = sum.ring_fft + n * of.ring_fft;
  sum.modes = sum.modes + n * of.modes;
  sum.halo = sum.halo + n * of.halo;
  sum.copies = sum.copies + n * of.copies;
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

/// Convolves scalar fields, then Q and U, with the cut kernels, map by map, on the same bands of
/// rings.
class RingMethod final : public ConvolutionMethod<RingConvolution> {
 public:
  RingMethod(Run& run, SmoothJob& job, CutKernel cut)
      : ConvolutionMethod(run, job),
        cut_(std::move(cut)),
        spins_(plan_of_spins(run, job, cut_)),
        scalars_(plan_of_scalars(run, job, cut_, spins_)),
        ranks_of_device_(job.options.transform.backend == "host" ? 1 : ranks_of_device(run)),
        backend_(choose_ring_backend()) {}

  std::string name() const override { return "ring"; }
  std::string label() const override { return "rings"; }
  double error() const override { return cut_.error; }
  Estimate predict() override {
    Estimate planning;
    if (spins_) planning = planning + estimate_planning(*spins_, run_.machine);
    if (scalars_) planning = planning + estimate_planning(*scalars_, run_.machine);
    return of_slowest(run_.comm, predict_maps().total + planning);
  }

  bool fits() const override { return fits_memory(run_.comm, memory()); }
  std::vector<MapRange> plan() override {
    warn_where_raised(run_, job_.options, cut_.b_l);
    return one_by_one(run_, job_.maps, job_.options.maps, "--method ring takes them so");
  }

  const LocalRings& rings() const override { return first_plan().own(); }
  MemoryEstimate memory() const override {
    RingMemoryUse use;
    use.n_components = job_.choice.fields.n_components();
    use.mask = job_.mask();
    use.scalars = scalars_ ? &*scalars_ : nullptr;
    use.spins = spins_ ? &*spins_ : nullptr;
    MemoryEstimate estimate = estimate_memory(use);
    add_per_pixel_buffers(mask_beside(job_.options.analysis), rings(), estimate.items);
    return estimate;
  }

  void report_plan(const MemoryEstimate& estimate) override {
    if (!device_shortage_.empty()) fall_back_to_host(run_, device_shortage_);
    const Prediction prediction = predict_maps();
    const RingConvolutionEstimate& of = prediction.stages;
    const auto sent = static_cast<double>(halo_bytes());
    nlohmann::ordered_json& plan = run_.report["plan"];
    plan = {
        {"method", "ring"},
        {"halo_bytes", run_.comm.sum(sent)},
        {"predicted_seconds", prediction.total.seconds},
        {"predicted_uncertainty_seconds", prediction.total.sigma},
        {"predicted_stages",
         {{"stencil", of.stencil.seconds},
          {"sectors", of.sectors.seconds},
          {"ring_fft", of.ring_fft.seconds},
          {"modes", of.modes.seconds},
          {"halo", of.halo.seconds},
          {"copies", of.copies.seconds}}},
        {"harmonic_seconds", prediction.harmonic.seconds},
    };
    record_memory(run_, estimate);
    for (const MemoryItem& item : estimate.items)
      plan["memory_bytes"][item.name] = run_.comm.sum(item.bytes);
    if (device_) plan["device"] = device_entry(run_, *device_, on_device_.total());
    if (run_.options.dry_run || run_.options.verbose) print_plan(estimate, prediction);
    // A device that --backend auto took is large enough.
    if (device_ && job_.options.transform.backend == "cuda")
      require_device_memory(run_.comm, *device_, on_device_.total(), what_they_are);
    warn_where_narrow(run_, cut_, *job_.grid);
    warn_if_slow(run_, prediction.total, prediction.harmonic);
  }

  void record() override {
    run_.report["convolution"] = {
        {"method", "ring"},
        {"maps", job_.choice.fields.n_components()},
        {"convolutions", n_convolutions_},
        {"support_degrees", degrees(support())},
        {"truncation_error", cut_.truncation},
        {"allowed_error", cut_.error},
        {"kernel_power_beyond_grid", cut_.beyond_grid},
        {"seconds", over_ranks(run_.comm, convolution_time_.seconds("convolution"))},
        {"halo_bytes_sent", run_.comm.sum(halo_bytes_of_scalars_ + halo_bytes_of_spins_)},
    };
    run_.report["layout"] = {
        {"rings", over_ranks(run_.comm, static_cast<double>(rings().n_rings()))},
        {"pixels", over_ranks(run_.comm, static_cast<double>(rings().n_pixels()))},
    };
  }

  std::string summary() const override {
    return fmt::format("ring method, support {:.4g} degrees, error of the cut {:.2g}",
                       degrees(support()), cut_.truncation);
  }

 private:
  /// Predicts all maps, and the harmonic method without iterations for the same fields.
  struct Prediction {
    RingConvolutionEstimate stages;
    Estimate total;
    Estimate harmonic;
  };

  std::int64_t n_scalars() const { return job_.n_scalars(); }
  const RingConvolutionPlan& first_plan() const { return spins_ ? *spins_ : *scalars_; }
  double support() const {
    const double of_scalars = n_scalars() > 0 ? scalars_->support() : 0;
    return std::max(of_scalars, spins_ ? spins_->support() : 0);
  }
  /// Sent by this rank for all fields of a map, without masks.
  std::int64_t halo_bytes() const {
    return (n_scalars() > 0 ? halo_bytes_to_send(*scalars_) : 0) +
           (spins_ ? halo_bytes_to_send(*spins_) : 0);
  }

  /// Collective.
  Backend choose_ring_backend() {
    const std::string& asked = job_.options.transform.backend;
    const Backend backend =
        choose_faster_backend(run_, asked, [&](Backend place) { return stages_on(place).total(); });
    if (backend == Backend::host) return backend;
    on_device_ = agreed(run_.comm, [&] { return memory_on_device(); });
    try {
      device_ = share_of_device(run_.comm);
      if (asked == "auto")
        device_shortage_ = device_shortage(run_.comm, *device_, on_device_.total(), what_they_are);
    } catch (const ResourceError& error) {
      if (asked != "auto") throw;
      device_shortage_ = error.what();
    }
    if (device_shortage_.empty()) return backend;
    device_.reset();
    return Backend::host;
  }
  RingDeviceMemory memory_on_device() const {
    return ring_device_memory(scalars_ ? &*scalars_ : nullptr, spins_ ? &*spins_ : nullptr,
                              job_.mask());
  }

  /// Predicts all maps on this rank.
  RingConvolutionEstimate stages_on(Backend backend) const {
    const int n_maps = checked_cast<int>(job_.maps.n(), "maps");
    const ConvolutionPlace place{backend, omp_get_max_threads(), ranks_of_device_};
    RingConvolutionEstimate stages;
    const auto add = [&](int n, const RingConvolutionPlan& plan) {
      add_stages(stages, n * n_maps, estimate_convolution(plan, run_.machine, place));
    };
    const int n_masks = !job_.is_normalized() ? 0 : (n_scalars() > 0 ? 1 : 0) + (spins_ ? 1 : 0);
    if (scalars_) add((n_scalars() > 0 ? 1 : 0) + n_masks, *scalars_);
    if (spins_) add(1, *spins_);
    return stages;
  }

  Prediction predict_maps() const {
    Prediction prediction{stages_on(backend_), {}, {}};
    prediction.stages.halo = of_slowest(run_.comm, prediction.stages.halo);
    prediction.total = prediction.stages.total();
    prediction.harmonic = predict_harmonic(run_, job_, job_.usual_lmax);
    return prediction;
  }

  void print_plan(const MemoryEstimate& estimate, const Prediction& prediction) const {
    run_.print_line(fmt::format("plan: {}, ring method, {} map(s), {} rank(s) x {} thread(s)",
                                job_.grid->name(), job_.choice.fields.n_components(),
                                run_.comm.size(), omp_get_max_threads()));
    run_.print_line(fmt::format(
        "  kernel cut at {:.4g} degrees, which costs {:.2g} of the rms; {:.2g} allowed in all",
        degrees(support()), cut_.truncation, cut_.error));
    PlanTable table(run_);
    table.count("rings", rings().n_rings());
    table.count("pixels", rings().n_pixels());
    table.bytes("halo sent per map", halo_bytes());
    table.memory(estimate);
    if (device_) {
      table.bytes("device: maps and halos", on_device_.maps);
      table.bytes("device: ring modes", on_device_.modes);
      table.bytes("device: tables", on_device_.tables);
      table.bytes("device memory", on_device_.total());
      run_.print_line("  device: " + device_text(*device_));
    }
    const RingConvolutionEstimate& of = prediction.stages;
    run_.print_line(fmt::format(
        "  predicted: {} on rings (stencil {:.2g}, sectors {:.2g}, ring FFT {:.2g}, modes {:.2g}, "
        "halo {:.2g}, copies {:.2g}); the harmonic way {}",
        seconds_text(prediction.total), of.stencil.seconds, of.sectors.seconds, of.ring_fft.seconds,
        of.modes.seconds, of.halo.seconds, of.copies.seconds, seconds_text(prediction.harmonic)));
  }

  /// Makes the convolution; on the host where the device that --backend auto took has too little
  /// memory.
  RingConvolution make(Fields fields) override {
    RingConvolutionSpec spec = (fields == Fields::spin ? *spins_ : *scalars_).spec();
    return make_with_host_fallback(run_, job_.options.transform.backend, backend_, [&] {
      spec.backend = backend_;
      return RingConvolution(run_.comm, spec);
    });
  }

  void keep_times(RingConvolution& convolution) override {
    for (const auto& [stage, entry] : convolution.times().entries())
      run_.times.add(stage, entry.seconds);
  }

  void count(Fields fields, const RingConvolution& convolution,
             const SmoothingReport& report) override {
    n_convolutions_ += report.convolutions;
    (fields == Fields::spin ? halo_bytes_of_spins_ : halo_bytes_of_scalars_) =
        convolution.halo_bytes_sent();
  }

  void describe(Provenance& provenance) const override {
    provenance.support_degrees = degrees(support());
    provenance.kernel_error = cut_.truncation;
  }

  CutKernel cut_;
  std::optional<RingConvolutionPlan> spins_;    ///< of Q and U
  std::optional<RingConvolutionPlan> scalars_;  ///< of scalar fields, or of masks of Q and U
  int ranks_of_device_;
  static constexpr const char* what_they_are = "maps that are convolved on rings";
  std::optional<DeviceShare> device_;  ///< none on the host
  RingDeviceMemory on_device_{};
  std::string device_shortage_;  ///< why the device that --backend auto took is of no use
  Backend backend_;
  int n_convolutions_ = 0;
  // Sent by this rank in one convolution.
  std::int64_t halo_bytes_of_scalars_ = 0;
  std::int64_t halo_bytes_of_spins_ = 0;
};

}  // namespace

CutKernel cut_for_rings(Run& run, const SmoothJob& job) {
  const FieldSet& fields = job.choice.fields;
  const std::int64_t at_once = std::max(job.n_scalars(), job.n_spin_maps());
  require_memory_for(run.comm, *job.grid, fields.n_components() + at_once, job.precision);
  return cut_kernel(run, job.options, *job.grid, job.precision, fields);
}

std::unique_ptr<SmoothingMethod> ring_method(Run& run, SmoothJob& job, CutKernel cut) {
  return std::make_unique<RingMethod>(run, job, std::move(cut));
}

}  // namespace ringweave::detail::inline app
