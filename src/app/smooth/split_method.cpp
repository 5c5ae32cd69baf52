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
#include "app/report/plan_table.hpp"
#include "app/sky_mask.hpp"
#include "app/smooth/convolution_method.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "base/checked_cast.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/smoothing.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

double support_degrees_of(const KernelSplit& split) { return split.best().theta_cut / arcmin / 60; }

int lmax_of(const SmoothJob& job) {
  return job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
}

/// Returns the specification of a split without its placement. Collective.
KernelSplitSpec split_spec(Run& run, const SmoothJob& job, Fields fields, const Beam& beam,
                           const SplitBackends& backends) {
  KernelSplitSpec spec;
  spec.spin = fields == Fields::spin ? 2 : 0;
  spec.k_l = fields == Fields::spin ? beam.e : beam.t;
  spec.k_l.resize(to_size(std::int64_t{lmax_of(job)} + 1), 0.0);
  const bool is_of_masks = fields == Fields::scalar && job.n_scalars() == 0;
  if (!job.options.input_cl.empty() && !is_of_masks) {
    spec.cl = input_spectrum(run, job.options, fields);
    if (spec.cl.size() < spec.k_l.size()) spec.cl.resize(spec.k_l.size(), 0.0);
  }
  spec.nside = job.grid->nside();
  spec.error = job.options.error.value_or(spec.error);
  const std::int64_t n_threads = run.comm.min(std::int64_t{omp_get_max_threads()});
  spec.n_ranks = run.comm.size();
  spec.n_threads = checked_cast<int>(n_threads, "threads");
  spec.backends = backends;
  spec.machine =
      std::make_shared<const SplitMachine>(SplitMachine{&run.machine, ranks_of_device(run)});
  return spec;
}

bool has_harmonic_on_device(const SplitPlan& plan) {
  return plan.harmonic && plan.harmonic->spec.backend == Backend::cuda;
}

/// Returns which parts are on a device, as the end of a sentence.
const char* places_of(const SplitPlan& plan) {
  const bool has_rings = plan.rings.spec().backend == Backend::cuda;
  if (has_harmonic_on_device(plan)) return has_rings ? ", on a device" : ", harmonics on a device";
  return has_rings ? ", rings on a device" : "";
}

std::string text_of(const SplitPlan& plan) {
  const char* device = places_of(plan);
  if (!plan.harmonic) return fmt::format("rings alone{}", device);
  const SplitPlacement& placement = plan.placement;
  if (placement.is_side_by_side()) {
    return fmt::format("side by side, rings on {} rank(s) and harmonics on {}{}",
                       placement.ranks_of_rings(plan.n_ranks), placement.n_harmonic, device);
  }
  return fmt::format("rings and harmonics {}{}", plan.at_once ? "at once" : "one after the other",
                     device);
}

/// The split of a kernel, and who does which part of it.
struct SplitSearch {
  KernelSplit split;
  SplitMaps maps;
  SplitPlan plan;
  std::vector<double> k_l;
};

/// Returns the fastest split of the kernel of `fields`. Collective.
SplitSearch search_split(Run& run, const KernelSplitSpec& spec, const SplitMaps& maps,
                         const std::string& fields) {
  SplitSearch found = agreed(run.comm, [&] {
    KernelSplit kernel(spec);
    if (!kernel.has_parts()) {
      throw UsageError(fmt::format("--method split{}: {}", fields, kernel.reason()));
    }
    SplitPlan plan(kernel, maps, run.comm.rank(), run.comm.size());
    return SplitSearch{std::move(kernel), maps, std::move(plan), spec.k_l};
  });
  agree_same(run.comm, "the split of the kernel", found.split.best().l_cut);
  return found;
}

/// The splits of a job's kernel, for maps on the same rings.
struct SplitSearches {
  std::optional<SplitSearch> spins;    ///< of Q and U
  std::optional<SplitSearch> scalars;  ///< of scalar fields, or of masks of Q and U
};

void require_splits(const Run& run, const SmoothJob& job) {
  if (const std::string why = why_not_split(job); !why.empty())
    throw UsageError(fmt::format("--method split: {}; use --method ring or harmonic", why));
  if (job.options.harmonic_ranks.value_or(0) >= run.comm.size()) {
    throw UsageError(fmt::format(
        "--harmonic-ranks {}: expected 0 to {}, for {} rank(s) in all must do the rings "
        "too; start more ranks, or leave it out",
        *job.options.harmonic_ranks, run.comm.size() - 1, run.comm.size()));
  }
}

/// Collective.
SplitSearches search_splits(Run& run, const SmoothJob& job) {
  require_splits(run, job);
  const std::int64_t n_scalars = job.n_scalars();
  const std::int64_t n_spin_maps = job.n_spin_maps();
  require_memory_for(run, *job.grid, n_scalars + n_spin_maps + std::max(n_scalars, n_spin_maps),
                     job.precision);
  SplitMaps maps{job.grid, n_spin_maps, bytes_of(job.precision),
                 choose_split_backends(run, job.options.transform)};
  const Beam beam = beam_of(run, job.options, *job.header.grid, lmax_of(job));
  std::optional<int> n_harmonic = job.options.harmonic_ranks;
  SplitSearches found;
  if (n_spin_maps > 0) {
    agree(run.comm, [&] { require_one_beam(beam, "split"); });
    KernelSplitSpec spec = split_spec(run, job, Fields::spin, beam, maps.backends);
    spec.n_harmonic = n_harmonic;
    run.progress.stage("splitting the kernel of Q and U");
    found.spins = search_split(run, spec, maps, ", Q and U");
    // The other split is placed alike.
    n_harmonic = found.spins->plan.placement.n_harmonic;
    maps.ring_bands = std::make_shared<const RingDistribution>(found.spins->plan.bands);
  }
  if (n_scalars > 0 || job.is_normalized()) {
    maps.n_maps = std::max<std::int64_t>(n_scalars, 1);
    KernelSplitSpec spec = split_spec(run, job, Fields::scalar, beam, maps.backends);
    spec.n_harmonic = n_harmonic;
    run.progress.stage("splitting the kernel");
    found.scalars = search_split(run, spec, maps, n_scalars > 0 ? "" : ", masks of Q and U");
  }
  return found;
}

/// Takes few degrees through a_lm and the rest of the kernel on the rings, map by map: scalar
/// fields, then Q and U.
class SplitMethod final : public ConvolutionMethod<SplitConvolution> {
 public:
  SplitMethod(Run& run, SmoothJob& job)
      : ConvolutionMethod(run, job), found_(search_splits(run, job)) {}

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
    return predict_maps().total + planning;
  }

  bool fits() const override { return fits_memory(run_, memory()); }
  std::vector<MapRange> plan() override {
    warn_where_raised(run_, job_.options, of_fields().front()->k_l);
    return one_by_one(run_, job_.maps, job_.options.maps, "--method split takes them so");
  }

  const LocalRings& rings() const override { return first_plan().own; }
  MemoryEstimate memory() const override {
    SplitMemoryUse use;
    use.n_components = job_.choice.fields.n_components();
    use.mask = job_.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
    use.precision = job_.precision;
    use.scalars = found_.scalars ? &found_.scalars->plan : nullptr;
    use.spins = found_.spins ? &found_.spins->plan : nullptr;
    MemoryEstimate estimate = estimate_memory(use);
    add_beside(mask_beside(job_.options.analysis), rings(), estimate.items);
    return estimate;
  }

  void report_plan(const MemoryEstimate& estimate) override {
    const Prediction predicted = predict_maps();
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
        {"harmonic_seconds", harmonic.seconds},
    };
    for (const SplitSearch* of : of_fields()) {
      plan["splits"].push_back({{"spin", of->split.compact().spin()},
                                {"l_cut", of->split.best().l_cut},
                                {"support_degrees", support_degrees_of(of->split)},
                                {"error", of->split.error().total}});
    }
    record_memory(run_, estimate);
    if (run_.options.dry_run || run_.options.verbose) print_plan(estimate, predicted, harmonic);
  }

  std::string summary() const override {
    return fmt::format("split method, l_cut {}, support {:.4g} degrees, error {:.2g}", l_cut(),
                       support_degrees(), error());
  }

 private:
  /// Seconds of all maps, with the masks'.
  struct Prediction {
    Estimate rings;
    Estimate harmonic;
    Estimate sending;
    Estimate total;
  };

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

  Prediction predict_maps() const {
    Prediction sum;
    const int n_masks =
        job_.is_normalized() ? checked_cast<int>(ssize64(of_fields()), "fields") : 0;
    if (found_.scalars)
      add_predicted(sum, (job_.n_scalars() > 0 ? 1 : 0) + n_masks, *found_.scalars);
    if (found_.spins) add_predicted(sum, 1, *found_.spins);
    return sum;
  }

  /// Adds n convolutions of every map.
  void add_predicted(Prediction& sum, int n, const SplitSearch& search) const {
    const SplitPlan& plan = search.plan;
    const auto n_maps = static_cast<double>(job_.maps.n());
    ConvolutionPlace place{plan.rings.spec().backend, omp_get_max_threads()};
    if (place.backend == Backend::cuda)
      place.ranks_of_device = std::min(plan.rings.n_ranks(), ranks_of_device(run_));
    const Estimate rings =
        of_slowest(run_.comm, n * estimate_convolution(plan.rings, run_.machine, place).total());
    Estimate harmonic;
    if (plan.harmonic) harmonic = predict_transforms(run_, *plan.harmonic, {2 * n, 0, false}).total;
    Estimate sending;
    Estimate total = plan.at_once ? longer(harmonic, rings) : rings + harmonic;
    if (plan.placement.is_side_by_side()) {
      const RingConvolutionSpec& maps = plan.rings.spec();
      const double n_fields =
          static_cast<double>(n * maps.n_maps) / static_cast<double>(plan.rings.maps_of_field());
      sending = n_fields * static_cast<double>(maps.bytes_per_pixel) / sizeof(double) *
                search.split.best().sending;
      total = longer(harmonic, rings) + sending;
    }
    sum.rings = sum.rings + n_maps * rings;
    sum.harmonic = sum.harmonic + n_maps * harmonic;
    sum.sending = sum.sending + n_maps * sending;
    sum.total = sum.total + n_maps * total;
  }

  void print_plan(const MemoryEstimate& estimate, const Prediction& predicted,
                  const Estimate& harmonic) const {
    run_.say(fmt::format("plan: {}, split method, {} map(s), {} rank(s) x {} thread(s)",
                         job_.grid->name(), job_.choice.fields.n_components(), run_.comm.size(),
                         omp_get_max_threads()));
    std::int64_t halo = 0;
    std::int64_t on_device = 0;
    bool has_device = false;
    for (const SplitSearch* of : of_fields()) {
      const SplitPlan& plan = of->plan;
      const SplitCandidate& best = of->split.best();
      run_.say(fmt::format("  {}l_cut {}, theta_cut {:.4g} arcmin, error {:.2g}; {}",
                           plan.rings.spin() > 0 ? "Q and U: " : "", best.l_cut,
                           best.theta_cut / arcmin, of->split.error().total, text_of(plan)));
      if (plan.does_rings()) halo += halo_bytes_to_send(plan.rings);
    }
    for (const auto* search : {&found_.scalars, &found_.spins}) {
      if (!*search || !has_harmonic_on_device((*search)->plan)) continue;
      const SplitPlan& plan = (*search)->plan;
      has_device = true;
      const std::int64_t bytes =
          plan.does_harmonic() ? plan_device_memory(*plan.harmonic).total() : 0;
      // One after the other, but where masks need both.
      on_device = job_.is_normalized() ? on_device + bytes : std::max(on_device, bytes);
    }
    PlanTable table(run_);
    table.count("rings", rings().n_rings());
    table.count("pixels", rings().n_pixels());
    table.bytes("halo sent per map", halo);
    table.memory(estimate);
    if (has_device) table.bytes("device, harmonic part", on_device);
    run_.say(fmt::format(
        "  predicted: {} (rings {:.2g}, harmonics {:.2g}, sending {:.2g}); all degrees of the a_lm "
        "{}",
        seconds_text(predicted.total), predicted.rings.seconds, predicted.harmonic.seconds,
        predicted.sending.seconds, seconds_text(harmonic)));
  }

  /// On the host where the device that --backend auto took is of no use.
  SplitConvolution make(Fields fields) override {
    const SplitSearch& search = fields == Fields::spin ? *found_.spins : *found_.scalars;
    const TransformOptions& asked = job_.options.transform;
    const bool may_use_host = asked.backend == "auto" && asked.stage.empty();
    try {
      return made_by(search);
    } catch (const ResourceError& failure) {
      if (!may_use_host || search.maps.backends.harmonic != Backend::cuda) throw;
      const SplitBackends on_host{give_up_device(run_, failure.what())};
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
