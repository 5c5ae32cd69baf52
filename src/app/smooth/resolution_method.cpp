// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/map_batch.hpp"
#include "app/report/plan_table.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Multiplies the a_lm with the beam and synthesizes them on another grid, map by map.
class ResolutionMethod final : public SmoothingMethod {
 public:
  ResolutionMethod(Run& run, SmoothJob& job)
      : SmoothingMethod(run, job),
        from_(make_spec(job.options.transform, job.grid, job.choice.fields, job.usual_lmax)),
        onto_(make_spec(job.options.transform, job.new_grid, job.choice.fields, job.usual_lmax)) {
    choose_backend(run, job.options.transform, from_);
    onto_.backend = from_.backend;
    onto_.on_device = from_.on_device;
  }

  std::string name() const override { return "harmonic"; }
  std::string label() const override { return fmt::format("harmonics with lmax {}", from_.lmax); }
  double error() const override { return 0; }

  Estimate predict() override {
    return static_cast<double>(job_.maps.n()) *
               (predict_transforms(run_, plan_of(from_), {1, 0, false}).total +
                predict_synthesis()) +
           estimate_planning(from_, run_.machine) + estimate_planning(onto_, run_.machine);
  }

  std::vector<MapRange> plan() override {
    require_memory_for(run_.comm, from_, job_.precision);
    require_memory_for(run_.comm, onto_, job_.precision);
    job_.smoothing.beam = beam_of(run_, job_.options, *job_.header.grid, from_.lmax);
    warn_where_raised(run_, job_.options, job_.smoothing.beam.t);
    settings_ = harmonic_settings(run_, job_);
    warn_beyond_grid(run_, job_.maps.to_do.front().output, *job_.new_grid, from_.lmax);
    const std::string backend = job_.options.transform.asked_backend();
    analysis_ = plan_transform(run_, from_, settings_.use, backend);
    synthesis_ = plan_transform(run_, onto_, {.precision = job_.precision}, backend);
    return one_by_one(run_, job_.maps, job_.options.maps, "a change of grid takes them so");
  }

  const LocalRings& rings() const override { return analysis_->rings(); }
  const LocalRings& new_rings() const override { return synthesis_->rings(); }
  MemoryEstimate memory() const override {
    MemoryEstimate estimate = estimate_memory(*analysis_, settings_.use);
    const std::int64_t n = from_.fields.n_components() * bytes_of(job_.precision);
    estimate.items.push_back({"a_lm for the new grid", 2 * n * synthesis_->alm_layout().size()});
    estimate.items.push_back({"map on the new grid", n * synthesis_->rings().n_pixels()});
    estimate.items.push_back(
        {"mask on the new grid", bytes_of(job_.precision) * synthesis_->rings().n_pixels()});
    // Those of the larger grid.
    for (const MemoryItem& item :
         estimate_memory(*synthesis_, {.precision = job_.precision}).items) {
      if (item.name != "ring modes") continue;
      for (MemoryItem& own : estimate.items) {
        if (own.name == item.name) own.bytes = std::max(own.bytes, item.bytes);
      }
    }
    return estimate;
  }
  void report_plan(const MemoryEstimate& estimate) override {
    TransformCount count = settings_.count;
    --count.all_fields;  // the synthesis is one on the other grid
    const auto n_maps = checked_cast<int>(job_.maps.n(), "maps");
    record_plan(run_, *analysis_, estimate, n_maps * count);
    record_synthesis_plan(run_, *synthesis_, {.all_fields = n_maps});
  }

  void prepare() override { read_weights(settings_.weights); }
  SmoothingReport smooth(AnyMapGroup group) override {
    return std::visit([&](auto* maps) { return smooth_group(*maps); }, group);
  }
  void release() override {
    analysis_->release_workspace();
    synthesis_->release_workspace();
  }
  void record() override {
    record_transform(run_, *analysis_, count_);
    record_transform(run_, *synthesis_, {.all_fields = n_syntheses_}, PlanPart::synthesis);
  }
  std::string summary() const override {
    return fmt::format("harmonic method, lmax {}, {} iteration(s), {} to {}", from_.lmax,
                       iterations_, job_.header.grid->name(), job_.new_grid->name());
  }

 private:
  Estimate predict_synthesis() const {
    return predict_transforms(run_, plan_of(onto_), {1, 0, false}).total;
  }
  TransformPlan plan_of(const TransformSpec& spec) const {
    return agreed(run_.comm,
                  [&] { return TransformPlan(spec, run_.comm.rank(), run_.comm.size()); });
  }

  template <class T>
  SmoothingReport smooth_group(MapGroup<T>& group) {
    if (job_.maps.is_single()) run_.progress.stage("smoothing");
    const std::string& input = job_.maps.to_do[to_size(group.range.first)].input;
    const SmoothingReport report = with_path(input, [&] {
      return smooth_harmonic_onto<T>(*analysis_, *synthesis_, job_.smoothing, group.map,
                                     progress_of(run_));
    });
    tell_analysis(run_, job_, {input}, from_.lmax, report.analysis, group.provenance);
    iterations_ = report.analysis.iterations;
    TransformCount done = count_of(report);
    --done.all_fields;
    count_ += done;
    ++n_syntheses_;
    return report;
  }

  TransformSpec from_;
  TransformSpec onto_;
  HarmonicSettings settings_;
  std::unique_ptr<SphericalHarmonicTransform> analysis_;
  std::unique_ptr<SphericalHarmonicTransform> synthesis_;
  TransformCount count_;
  int n_syntheses_ = 0;
  int iterations_ = 0;
};

}  // namespace

std::unique_ptr<SmoothingMethod> resolution_method(Run& run, SmoothJob& job) {
  return std::make_unique<ResolutionMethod>(run, job);
}

}  // namespace ringweave::detail::inline app
