// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lensed_map.hpp"

#include <memory>
#include <utility>

#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/point_report.hpp"
#include "app/sky_analysis.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

TransformSpec cut_spec(const LensJob& job) {
  TransformSpec spec;
  spec.grid = job.grid;
  spec.lmax = spec.mmax = job.options.lensed_lmax;
  spec.fields = job.spec.fields;
  spec.exchange = job.spec.exchange;
  return spec;
}

/// Leaves the degrees of a lensed map up to --lensed-lmax. Collective.
template <class T>
MapBuffer<T> keep_degrees(Run& run, LensJob& job, const Deflection& deflection, MapBuffer<T> map) {
  LensedCut cut = lensed_cut(job, deflection.ring_bands());
  SkyAnalysis analysis;
  analysis.options = analysis_options(job.options);
  analysis.n_iter = cut.n_iter;
  analysis.transform = std::make_unique<SphericalHarmonicTransform>(run.comm, std::move(cut.spec));
  SphericalHarmonicTransform& transform = *analysis.transform;
  auto weights = std::make_shared<AnalysisWeights>();
  weights->ring = ring_weights(transform.rings(), {});
  Analysed<T> found =
      transform_map<T>(run, analysis, job.options.output(), std::move(weights), map);
  map.release();
  put_analysis(analysis, SkyFraction{1, 1}, found.report.iterations, job.provenance);
  MapBuffer<T> kept = transform.synthesize<T>(std::move(found.alm));
  for (const auto& [stage, entry] : transform.times().entries())
    run.times.add(stage, entry.seconds);
  return kept;
}

}  // namespace

void check_lensed_lmax(Run& run, const LensJob& job) {
  const LensOptions& options = job.options;
  if (options.lensed_lmax < 0) return;
  warn_beyond_grid(run, options.output(), *job.grid, options.lensed_lmax);
  require_memory_for(run.comm, cut_spec(job), job.precision);
}

LensedCut lensed_cut(const LensJob& job, std::shared_ptr<const RingDistribution> bands) {
  LensedCut cut{cut_spec(job), 0};
  cut.spec.ring_bands = std::move(bands);
  cut.n_iter = job.options.n_iter.value_or(usual_iterations(*job.grid, cut.spec.lmax));
  return cut;
}

Lensing planned_lensing(Run& run, LensJob& job, const Deflection& deflection) {
  run.progress.stage("planning");
  const StageTimer timer(&run.times, "plan");
  return make_with_host_fallback(run, job.options.transform.backend, job.spec.backend, [&] {
    return Lensing(run.comm, deflection, job.spec, rotation_of(job.options));
  });
}

template <class T>
void write_lensed(Run& run, LensJob& job, const Deflection& deflection, Lensing& lensing,
                  AlmView<const T> alm) {
  auto map = agreed(run.comm, [&] { return lensing.make_map<T>(); });
  run.progress.stage("lensing");
  lensing.lens<T>(alm, map.view());
  record_point_transform(run, lensing.transform().points().report(), lensing.times());
  if (job.options.lensed_lmax >= 0) map = keep_degrees<T>(run, job, deflection, std::move(map));
  write_lens_map(run, job, job.options.output(), standard_columns(job.choice, job.unit),
                 deflection.rings(), MapView<const T>(map.view()));
}

template void write_lensed<float>(Run&, LensJob&, const Deflection&, Lensing&,
                                  AlmView<const float>);
template void write_lensed<double>(Run&, LensJob&, const Deflection&, Lensing&,
                                   AlmView<const double>);

}  // namespace ringweave::detail::inline app
