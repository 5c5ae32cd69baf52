// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/cli/angle.hpp"
#include "app/map_batch.hpp"
#include "app/predict/device_memory.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "app/sky_mask.hpp"
#include "app/smooth/convolution_method.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "app/smooth/split_choice.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/smoothing.hpp"

namespace ringweave::detail::inline app {
namespace {

double support_degrees_of(const KernelSplit& split) { return split.best().theta_cut / arcmin / 60; }

/// Returns which parts are on a device, as the end of a sentence.
const char* places_of(const SplitSearch& search) {
  const bool has_rings = search.has_rings_on_device();
  if (search.has_harmonic_on_device())
    return has_rings ? ", on a device" : ", harmonics on a device";
  return has_rings ? ", rings on a device" : "";
}

std::string text_of(const SplitSearch& search) {
  const char* device = places_of(search);
  const SplitPlan& plan = search.plan;
  if (!plan.harmonic) return fmt::format("rings alone{}", device);
  const SplitPlacement& placement = plan.placement;
  if (placement.is_side_by_side()) {
    return fmt::format("side by side, rings on {} rank(s) and harmonics on {}{}",
                       placement.ranks_of_rings(plan.n_ranks), placement.n_harmonic, device);
  }
  return fmt::format("rings and harmonics {}{}", plan.at_once ? "at once" : "one after the other",
                     device);
}

/// Takes few degrees through a_lm and the rest of the kernel on the rings, map by map: scalar
/// fields, then Q and U.
class SplitMethod final : public ConvolutionMethod<SplitConvolution> {
 public:
  SplitMethod(Run& run, SmoothJob& job)
      : ConvolutionMethod(run, job), found_(fastest_splits(run, job)) {}

  std::string name() const override { return "split"; }
  std::string label() const override { return fmt::format("split at l_cut {}", l_cut()); }
  double error() const override {
    return largest([](const SplitSearch& of) { return of.split.error().total; });
  }
  Estimate predict() override {
    Estimate planning;
    const auto add = [&](const std::optional<SplitSearch>& search) {
      if (!search) return;
      planning = planning + estimate_planning(search->plan.rings, run_.machine);
      if (search->plan.harmonic)
        planning = planning + estimate_planning(search->plan.harmonic->spec, run_.machine);
    };
    add(found_.spins);
    add(found_.scalars);
    return predict_splits(run_, job_, found_).total + planning;
  }

  bool fits() const override { return fits_memory(run_.comm, memory()); }
  std::vector<MapRange> plan() override {
    warn_where_raised(run_, job_.options, of_fields().front()->k_l);
    return one_by_one(run_, job_.maps, job_.options.maps, "--method split takes them so");
  }

  const LocalRings& rings() const override { return first_plan().own; }
  MemoryEstimate memory() const override {
    SplitMemoryUse use;
    use.n_components = job_.choice.fields.n_components();
    use.mask = job_.mask();
    use.precision = job_.precision;
    use.scalars = found_.scalars ? &found_.scalars->plan : nullptr;
    use.spins = found_.spins ? &found_.spins->plan : nullptr;
    MemoryEstimate estimate = estimate_memory(use);
    add_per_pixel_buffers(mask_beside(job_.options.analysis), rings(), estimate.items);
    return estimate;
  }

  void report_plan(const MemoryEstimate& estimate) override {
    const SplitPrediction predicted = predict_splits(run_, job_, found_);
    const Estimate harmonic = predict_harmonic(run_, job_, lmax_of(job_));
    nlohmann::ordered_json& plan = run_.report["plan"];
    plan = {
        {"method", "split"},
        {"l_cut", l_cut()},
        {"support_degrees", support_degrees()},
        {"harmonic_ranks", first_plan().placement.n_harmonic},
        {"at_once", largest([](const SplitSearch& of) { return of.plan.at_once; }) > 0},
        {"predicted_seconds", predicted.total.seconds},
        {"predicted_uncertainty_seconds", predicted.total.sigma},
        {"predicted_stages",
         {{"rings", predicted.rings.seconds},
          {"harmonic", predicted.harmonic.seconds},
          {"sending", predicted.sending.seconds}}},
        {"predicted_search_seconds", predict_search(run_, job_).seconds},
        {"harmonic_seconds", harmonic.seconds},
    };
    if (!job_.options.split.empty()) plan["split_file"] = job_.options.split;
    for (const SplitSearch* of : of_fields()) {
      plan["splits"].push_back({{"spin", of->split.compact().spin()},
                                {"l_cut", of->split.best().l_cut},
                                {"support_degrees", support_degrees_of(of->split)},
                                {"error", of->split.error().total}});
    }
    record_memory(run_, estimate);
    const OnDevice on_device = agreed(run_.comm, [&] {
      return OnDevice{harmonic_on_device(job_, found_), rings_on_device(job_, found_)};
    });
    const bool has_rings = run_.comm.max(on_device.rings) > 0;
    std::optional<DeviceShare> device;
    if (has_rings || run_.comm.max(on_device.harmonic) > 0) {
      device = device_of_parts();
    }
    if (device) plan["device"] = device_entry(run_, *device, on_device.harmonic + on_device.rings);
    if (run_.options.dry_run || run_.options.verbose)
      print_plan(estimate, predicted, harmonic, on_device, device);
    // The choice of --backend auto fits, or goes to the host.
    if (has_rings && !job_.options.transform.stage.empty())
      require_device_memory(run_.comm, *device, on_device.rings, rings_of_a_split);
  }

  std::string summary() const override {
    return fmt::format("split method, l_cut {}, support {:.4g} degrees, error {:.2g}", l_cut(),
                       support_degrees(), error());
  }

 private:
  const SplitPlan& first_plan() const {
    return found_.spins ? found_.spins->plan : found_.scalars->plan;
  }
  /// Returns the searches of fields, not those of masks alone.
  std::vector<const SplitSearch*> of_fields() const {
    std::vector<const SplitSearch*> searches;
    if (job_.n_scalars() > 0) searches.push_back(&*found_.scalars);
    if (found_.spins) searches.push_back(&*found_.spins);
    return searches;
  }
  template <class Value>
  double largest(const Value& value) const {
    double most = -1;
    for (const SplitSearch* of : of_fields())
      most = std::max(most, static_cast<double>(value(*of)));
    return most;
  }
  int l_cut() const {
    return static_cast<int>(largest([](const SplitSearch& of) { return of.split.best().l_cut; }));
  }
  double support_degrees() const {
    return largest([](const SplitSearch& of) { return support_degrees_of(of.split); });
  }

  /// Returns the device; nothing where the one that --backend auto took is of no use, for the host
  /// takes over. Collective.
  std::optional<DeviceShare> device_of_parts() const {
    const TransformOptions& asked = job_.options.transform;
    try {
      return share_of_device(run_.comm);
    } catch (const ResourceError&) {
      if (asked.backend != "auto" || !asked.stage.empty()) throw;
    }
    return std::nullopt;
  }

  /// Bytes of the parts on a device.
  struct OnDevice {
    std::int64_t harmonic = 0;
    std::int64_t rings = 0;
  };

  void print_plan(const MemoryEstimate& estimate, const SplitPrediction& predicted,
                  const Estimate& harmonic, const OnDevice& on_device,
                  const std::optional<DeviceShare>& device) const {
    run_.print_line(fmt::format("plan: {}, split method, {} map(s), {} rank(s) x {} thread(s)",
                                job_.grid->name(), job_.choice.fields.n_components(),
                                run_.comm.size(), omp_get_max_threads()));
    std::int64_t halo = 0;
    for (const SplitSearch* of : of_fields()) {
      const SplitPlan& plan = of->plan;
      const SplitCandidate& best = of->split.best();
      run_.print_line(fmt::format("  {}l_cut {}, theta_cut {:.4g} arcmin, error {:.2g}; {}",
                                  plan.rings.spin() > 0 ? "Q and U: " : "", best.l_cut,
                                  best.theta_cut / arcmin, of->split.error().total, text_of(*of)));
      if (plan.does_rings()) halo += halo_bytes_to_send(plan.rings);
    }
    PlanTable table(run_);
    table.count("rings", rings().n_rings());
    table.count("pixels", rings().n_pixels());
    table.bytes("halo sent per map", halo);
    table.memory(estimate);
    if (run_.comm.max(on_device.harmonic) > 0)
      table.bytes("device, harmonic part", on_device.harmonic);
    if (run_.comm.max(on_device.rings) > 0) table.bytes("device, rings", on_device.rings);
    if (device) run_.print_line("  device: " + device_text(*device));
    run_.print_line(fmt::format(
        "  predicted: {} (rings {:.2g}, harmonics {:.2g}, sending {:.2g}); all degrees of the a_lm "
        "{}",
        seconds_text(predicted.total), predicted.rings.seconds, predicted.harmonic.seconds,
        predicted.sending.seconds, seconds_text(harmonic)));
    run_.print_line(fmt::format("  predicted: {} for the search of the split, which took {:.2g} s",
                                seconds_text(predict_search(run_, job_)),
                                run_.comm.max(run_.times.seconds("split_search"))));
  }

  /// Makes the convolution; on the host where the device that --backend auto took is of no use.
  SplitConvolution make(Fields fields) override {
    const SplitSearch& search = fields == Fields::spin ? *found_.spins : *found_.scalars;
    const TransformOptions& asked = job_.options.transform;
    const bool may_use_host = asked.backend == "auto" && asked.stage.empty();
    try {
      return made_by(search);
    } catch (const ResourceError& failure) {
      const SplitBackends& present = search.maps.backends;
      const bool is_on_host = present.harmonic == Backend::host && present.rings == Backend::host;
      if (!may_use_host || is_on_host) throw;
      const SplitBackends on_host{fall_back_to_host(run_, failure.what())};
      for (std::optional<SplitSearch>* other : {&found_.spins, &found_.scalars}) {
        if (*other) (*other)->maps.backends = on_host;
      }
      run_.report["plan"]["at_once"] = false;
    }
    return made_by(search);
  }

  SplitConvolution made_by(const SplitSearch& search) {
    SplitConvolution convolution(run_.comm, search.split, search.maps);
    const SphericalHarmonicTransform* transform = convolution.transform();
    if (run_.comm.min(std::int64_t{transform != nullptr}) == 1) record_device(run_, *transform);
    return convolution;
  }

  void keep_times(SplitConvolution& convolution) override {
    const auto add = [&](const StageTimes& times, const std::string& prefix) {
      for (const auto& [stage, entry] : times.entries())
        run_.times.add(prefix + stage, entry.seconds);
    };
    add(convolution.times(), "");
    if (auto* rings = convolution.ring_convolution()) add(rings->times(), "rings: ");
    if (auto* transform = convolution.transform()) add(transform->times(), "");
  }

  void describe(Provenance& provenance) const override {
    provenance.support_degrees = support_degrees();
    provenance.kernel_error = error();
    provenance.lmax = l_cut();
    std::string parts;
    for (const SplitSearch* of : of_fields()) {
      parts += fmt::format("{}{}l_cut {}, support {:.12g} degrees", parts.empty() ? "" : "; ",
                           of->plan.rings.spin() > 0 ? "Q and U: " : "", of->split.best().l_cut,
                           support_degrees_of(of->split));
    }
    provenance.split = parts;
  }

  SplitSearches found_;
};

}  // namespace

std::string why_not_split(const SmoothJob& job) {
  if (job.grid->nside() == 0 || job.grid->is_subset())
    return fmt::format("it is for full HEALPix maps, and this is {}", job.grid->name());
  return "";
}

std::unique_ptr<SmoothingMethod> split_method(Run& run, SmoothJob& job) {
  return std::make_unique<SplitMethod>(run, job);
}

}  // namespace ringweave::detail::inline app
