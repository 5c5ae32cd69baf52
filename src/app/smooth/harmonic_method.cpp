// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/backend_choice.hpp"
#include "app/maps/map_batch.hpp"
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
        spec_(make_spec(options, job.grid, job.choice.fields, job.usual_lmax)) {
    spec_.backend = choose_backend(run, options.backend);
  }

  std::string name() const override { return "harmonic"; }
  std::string label() const override { return fmt::format("harmonics with lmax {}", spec_.lmax); }
  double error() const override { return 0; }

  Estimate predict() override {
    const int n_masks = job_.is_normalized() ? 2 : 0;
    return static_cast<double>(job_.maps.n()) *
               predict_transforms(run_, plan_of(1), {2, n_masks, false}).total +
           estimate_planning(spec_, run_.machine);
  }

  std::vector<MapRange> plan() override {
    require_memory_for(run_, spec_, job_.precision);
    job_.smoothing.beam = beam_of(run_, job_.options, spec_.lmax);
    way_ = harmonic_way(run_, job_);
    const auto memory_of = [&](const std::vector<MapRange>& groups) {
      const TransformPlan one = plan_of(groups.front().count);
      return with_others(estimate_memory(one, way_.use), groups, bytes_of_map(job_, one.rings));
    };
    const std::vector<MapRange> groups =
        job_.smoothing.tolerance > 0
            ? one_by_one(run_, job_.maps, job_.options.maps, "--tol couples what goes together")
            : choose_groups(run_, job_.maps, job_.options.maps, n_components(), memory_of);
    n_groups_ = checked_cast<int>(ssize64(groups), "groups of maps");
    make_transform(groups.front().count);
    return groups;
  }

  const LocalRings& rings() const override { return transform_->rings(); }
  MemoryEstimate memory() const override { return estimate_memory(*transform_, way_.use); }
  void report_plan(const MemoryEstimate& estimate) override {
    record_plan(run_, *transform_, estimate, n_groups_ * way_.count);
  }

  void prepare() override { read_weights(way_.weights); }
  SmoothingReport smooth(SmoothGroup<float>& group) override { return smooth_group(group); }
  SmoothingReport smooth(SmoothGroup<double>& group) override { return smooth_group(group); }
  void release() override { transform_->release_workspace(); }
  void record() override {
    record_transform(run_, *transform_, count_);
    count_ = {};
  }
  std::string summary() const override {
    return fmt::format("harmonic method, lmax {}, {} iterations", spec_.lmax, iterations_);
  }

 private:
  std::int64_t n_components() const { return spec_.fields.n_components(); }

  TransformSpec spec_of(std::int64_t n_maps) const {
    TransformSpec batch = spec_;
    batch.fields = fields_of(spec_.fields, n_maps);
    batch.theta_components = n_components();
    return batch;
  }
  TransformPlan plan_of(std::int64_t n_maps) const {
    return agreed(run_.comm, [&] {
      return TransformPlan(spec_of(n_maps), run_.comm.rank(), run_.comm.size());
    });
  }
  void make_transform(std::int64_t n_maps) {
    transform_ = plan_transform(run_, spec_of(n_maps), way_.use, job_.options.transform.backend);
  }

  template <class T>
  SmoothingReport smooth_group(SmoothGroup<T>& group) {
    if (transform_->fields().n_components() != group.range.count * n_components()) {
      // The last groups may be smaller.
      record();
      transform_.reset();
      make_transform(group.range.count);
    }
    if (job_.maps.is_single()) run_.progress.stage("smoothing");
    const SmoothingReport report =
        smooth_fields<T>(run_, job_, *transform_, job_.smoothing, group,
                         group.maps.map.view().components(0, transform_->fields().n_components()));
    count_ += count_of(report);
    iterations_ = report.analysis.iterations;
    return report;
  }

  TransformSpec spec_;  ///< of one map
  HarmonicWay way_;
  int n_groups_ = 0;
  std::unique_ptr<SphericalHarmonicTransform> transform_;  ///< of the group at work
  TransformCount count_;                                   ///< of transform_
  int iterations_ = 0;
};

}  // namespace

std::unique_ptr<SmoothingMethod> harmonic_method(Run& run, SmoothJob& job,
                                                 const TransformOptions& options) {
  return std::make_unique<HarmonicMethod>(run, job, options);
}

}  // namespace ringweave::detail::inline app
