// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <variant>

#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/map_batch.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Multiplies the a_lm of all fields with the beam, several maps at a time where that pays.
class HarmonicMethod final : public SmoothingMethod {
 public:
  HarmonicMethod(Run& run, SmoothJob& job, const TransformOptions& options)
      : SmoothingMethod(run, job),
        transform_(run, spec_of(run, job, options), options.asked_backend()) {}

  std::string name() const override { return "harmonic"; }
  std::string label() const override { return fmt::format("harmonics with lmax {}", lmax()); }
  double error() const override { return 0; }

  Estimate predict() override {
    const int n_masks = job_.is_normalized() ? 2 : 0;
    return static_cast<double>(job_.maps.n()) *
               predict_transforms(run_, transform_.plan(1), {2, n_masks, false}).total +
           estimate_planning(transform_.of_one(), run_.machine);
  }

  std::vector<MapRange> plan() override {
    require_memory_for(run_.comm, transform_.of_one(), job_.precision);
    job_.smoothing.beam = beam_of(run_, job_.options, *job_.header.grid, lmax());
    warn_where_raised(run_, job_.options, job_.smoothing.beam.t);
    settings_ = harmonic_settings(run_, job_);
    const std::vector<MapRange> groups =
        job_.smoothing.tolerance > 0
            ? one_by_one(run_, job_.maps, job_.options.maps, "--tol couples maps that go together")
            : transform_.choose_groups(job_.maps, job_.options.maps, settings_.use);
    n_groups_ = checked_cast<int>(ssize64(groups), "groups of maps");
    transform_.plan_for(groups.front().count, settings_.use);
    return groups;
  }

  const LocalRings& rings() const override { return transform_->rings(); }
  MemoryEstimate memory() const override { return estimate_memory(*transform_, settings_.use); }
  void report_plan(const MemoryEstimate& estimate) override {
    record_plan(run_, *transform_, estimate, n_groups_ * settings_.count);
  }

  void prepare() override { read_weights(settings_.weights); }
  SmoothingReport smooth(AnyMapGroup group) override {
    return std::visit([&](auto* maps) { return smooth_group(*maps); }, group);
  }
  void release() override { transform_->release_workspace(); }
  void record() override { transform_.record(); }
  std::string summary() const override {
    return fmt::format("harmonic method, lmax {}, {} iteration(s)", lmax(), iterations_);
  }

 private:
  static TransformSpec spec_of(Run& run, const SmoothJob& job, const TransformOptions& options) {
    TransformSpec spec = make_spec(options, job.grid, job.choice.fields, job.usual_lmax);
    choose_backend(run, options, spec);
    return spec;
  }
  int lmax() const { return transform_.of_one().lmax; }

  template <class T>
  SmoothingReport smooth_group(MapGroup<T>& group) {
    transform_.plan_for(group.range.count, settings_.use);
    if (job_.maps.is_single()) run_.progress.stage("smoothing");
    const SmoothingReport report =
        smooth_fields<T>(run_, job_, *transform_, job_.smoothing, group,
                         group.map.view().components(0, transform_->fields().n_components()));
    transform_.count(count_of(report));
    iterations_ = report.analysis.iterations;
    return report;
  }

  HarmonicSettings settings_;
  int n_groups_ = 0;
  GroupTransform transform_;
  int iterations_ = 0;
};

}  // namespace

std::unique_ptr<SmoothingMethod> harmonic_method(Run& run, SmoothJob& job,
                                                 const TransformOptions& options) {
  return std::make_unique<HarmonicMethod>(run, job, options);
}

}  // namespace ringweave::detail::inline app
