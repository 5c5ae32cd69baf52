// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_job.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "app/analysis_checks.hpp"
#include "app/sky_mask.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/files.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

HarmonicSettings harmonic_settings(Run& run, const SmoothJob& job) {
  const SmoothingOptions& smoothing = job.smoothing;
  HarmonicSettings settings;
  settings.weights = find_weights(run, job.options.analysis.weights, *job.grid);
  settings.use.operation = smoothing.tolerance > 0 ? Operation::analysis_conjugate
                           : smoothing.n_iter > 0  ? Operation::analysis_iterating
                                                   : Operation::smoothing_in_place;
  settings.use.precision = job.precision;
  settings.use.pixel_weights =
      settings.weights.pixel.empty() ? PixelWeights::none : PixelWeights::held;
  settings.use.mask = job.mask();
  settings.use.extra_buffers = mask_beside(job.options.analysis);
  settings.count =
      planned_analysis(smoothing.n_iter, smoothing.tolerance, settings.use.pixel_weights);
  ++settings.count.all_fields;
  if (job.is_normalized()) {
    settings.count.mask = settings.count.all_fields;
    settings.count.mask_on_spectra = settings.count.all_fields_on_spectra;
  }
  return settings;
}

AnalysisProgress progress_of(Run& run) {
  return [&run](int pass, int passes, double residual) {
    run.progress.step(pass, passes, residual >= 0 ? fmt::format("residual {:.2e}", residual) : "");
  };
}

void tell_analysis(Run& run, const SmoothJob& job, const std::vector<std::string>& maps, int lmax,
                   const AnalysisReport& analysis, Provenance& provenance) {
  if (job.smoothing.tolerance == 0)
    require_converging(run.comm, maps.front(), *job.header.grid, lmax, analysis.residuals);
  if (!analysis.residuals.empty()) {
    const std::string line = fmt::format("{} iteration(s), relative residual {:.3e}",
                                         analysis.iterations, analysis.residuals.back());
    job.maps.is_single() ? run.print_line(line)
                         : run.detail(fmt::format("{}...: {}", maps.front(), line));
    note_what_remains(run, maps.front(), lmax, analysis.residuals);
  }
  run.report["analysis"] = {{"iterations", analysis.iterations}, {"residuals", analysis.residuals}};
  provenance.lmax = lmax;
  provenance.iterations = analysis.iterations;
}

template <class T>
SmoothingReport smooth_fields(Run& run, const SmoothJob& job, SphericalHarmonicTransform& transform,
                              SmoothingOptions smoothing, MapGroup<T>& group, MapView<T> map) {
  for (std::int64_t i = 0; i < group.range.count; ++i)
    smoothing.maps.push_back(job.maps.to_do[to_size(group.range.first + i)].input);
  SmoothingReport report = smooth_harmonic<T>(transform, smoothing, map, progress_of(run));
  tell_analysis(run, job, smoothing.maps, transform.spec().lmax, report.analysis, group.provenance);
  return report;
}

Estimate predict_harmonic(const Run& run, const SmoothJob& job, int lmax) {
  const TransformSpec spec = make_spec({}, job.grid, job.choice.fields, lmax);
  const auto plan =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), run.comm.size()); });
  const TransformCount count{2, job.is_normalized() ? 2 : 0, false};
  return static_cast<double>(job.maps.n()) * predict_transforms(run, plan, count).total;
}

TransformCount count_of(const SmoothingReport& report) {
  return {.all_fields = report.analysis.transforms,
          .mask = report.mask_transforms,
          .all_fields_on_spectra = report.analysis.on_spectra,
          .mask_on_spectra = report.mask_on_spectra};
}

#define RINGWEAVE_INSTANTIATE(T)                                                              \
  template SmoothingReport smooth_fields(Run&, const SmoothJob&, SphericalHarmonicTransform&, \
                                         SmoothingOptions, MapGroup<T>&, MapView<T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline app
