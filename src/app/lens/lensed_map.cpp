// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lensed_map.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "app/analysis_checks.hpp"
#include "app/report/point_report.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the a_lm of a lensed map, whose memory is freed. Collective.
template <class T>
AlmBuffer<T> analysed(Run& run, const LensJob& job, SphericalHarmonicTransform& transform,
                      MapBuffer<T> map) {
  const TransformSpec& spec = transform.spec();
  AnalysisWeights weights;
  weights.ring = ring_weights(transform.rings(), {});
  Analysis analysis(transform, std::move(weights));
  const int n_iter = job.options.n_iter.value_or(is_exact(*spec.grid, spec.lmax) ? 0 : 3);
  if (n_iter == 0) return analysis.once<T>(std::move(map));
  auto alm = agreed(run.comm, [&] { return transform.make_alm<T>(); });
  const AnalysisReport report = analysis.jacobi_destroying<T>(map.view(), n_iter, alm.view());
  require_converging(run.comm, job.options.output(), *spec.grid, spec.lmax, report.residuals);
  run.report["analysis"] =
      nlohmann::ordered_json{{"iterations", report.iterations}, {"residuals", report.residuals}};
  return alm;
}

/// Leaves the degrees of a lensed map up to --lensed-lmax. Collective.
template <class T>
MapBuffer<T> keep_degrees(Run& run, const LensJob& job, const Deflection& deflection,
                          MapBuffer<T> map) {
  TransformSpec spec;
  spec.grid = job.grid;
  spec.lmax = spec.mmax = job.options.lensed_lmax;
  spec.fields = job.spec.fields;
  spec.exchange = job.spec.exchange;
  spec.ring_bands = deflection.ring_bands();
  SphericalHarmonicTransform transform(run.comm, spec);
  run.progress.stage("analysis");
  MapBuffer<T> kept = transform.synthesize<T>(analysed<T>(run, job, transform, std::move(map)));
  for (const auto& [stage, entry] : transform.times().entries())
    run.times.add(stage, entry.seconds);
  return kept;
}

}  // namespace

Lensing planned_lensing(Run& run, const LensJob& job, const Deflection& deflection) {
  run.progress.stage("planning");
  const StageTimer timer(&run.times, "plan");
  return Lensing(run.comm, deflection, job.spec,
                 job.options.no_rotation ? FrameRotation::none : FrameRotation::carried);
}

template <class T>
void write_lensed(Run& run, const LensJob& job, const Deflection& deflection, Lensing& lensing,
                  AlmView<const T> alm) {
  auto map = agreed(run.comm, [&] { return lensing.make_map<T>(); });
  run.progress.stage("lensing");
  lensing.lens<T>(alm, map.view());
  record_point_transform(run, lensing.transform().points().report(), lensing.times());
  if (job.options.lensed_lmax >= 0) map = keep_degrees<T>(run, job, deflection, std::move(map));
  write_lens_map(run, job, job.options.output(), standard_columns(job.choice, job.unit),
                 deflection.rings(), MapView<const T>(map.view()));
}

template void write_lensed<float>(Run&, const LensJob&, const Deflection&, Lensing&,
                                  AlmView<const float>);
template void write_lensed<double>(Run&, const LensJob&, const Deflection&, Lensing&,
                                   AlmView<const double>);

}  // namespace ringweave::detail::inline app
