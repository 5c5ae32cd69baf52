// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_job.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "app/analysis_checks.hpp"
#include "app/cli/angle.hpp"
#include "app/table_input.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/kernel.hpp"

namespace ringweave::detail::inline app {

HarmonicWay harmonic_way(Run& run, const SmoothJob& job) {
  const SmoothingOptions& smoothing = job.smoothing;
  HarmonicWay way;
  way.weights = find_weights(run, job.options.analysis.weights, *job.grid);
  way.use.operation = smoothing.tolerance > 0 ? Operation::analysis_conjugate
                      : smoothing.n_iter > 0  ? Operation::analysis_iterating
                                              : Operation::smoothing_in_place;
  way.use.precision = job.precision;
  way.use.pixel_weights = way.weights.pixel.empty() ? PixelWeights::none : PixelWeights::held;
  way.use.mask = job.is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no;
  way.count = planned_analysis(smoothing.n_iter, smoothing.tolerance, way.use.pixel_weights);
  ++way.count.all_fields;
  if (job.is_normalized()) {
    way.count.mask = way.count.all_fields;
    way.count.mask_on_spectra = way.count.all_fields_on_spectra;
  }
  return way;
}

Beam beam_of(Run& run, const SmoothOptions& options, int lmax) {
  if (!options.beam.empty()) return beam_of_file(run, options.beam, lmax);
  if (!options.kernel.empty()) {
    run.outputs.keep(options.kernel);
    const KernelProfile profile = read_kernel_profile(run.comm, options.kernel);
    return agreed(run.comm, [&] {
      const std::vector<double> k_l =
          RadialKernel::from_profile(profile.theta, profile.value, KernelSupport::whole())
              .multipoles(lmax);
      return Beam{k_l, k_l, k_l};
    });
  }
  return gaussian_beam(parse_width(options.fwhm, "--fwhm"), lmax);
}

template <class T>
SmoothingReport smooth_fields(Run& run, const SmoothJob& job, SphericalHarmonicTransform& transform,
                              SmoothingOptions smoothing, MapGroup<T>& group, MapView<T> map) {
  for (std::int64_t i = 0; i < group.range.count; ++i)
    smoothing.maps.push_back(job.maps.to_do[to_size(group.range.first + i)].input);
  SmoothingReport report =
      smooth_harmonic<T>(transform, smoothing, map, [&](int pass, int passes, double residual) {
        run.progress.step(pass, passes,
                          residual >= 0 ? fmt::format("residual {:.2e}", residual) : "");
      });
  const AnalysisReport& analysis = report.analysis;
  const int lmax = transform.spec().lmax;
  if (smoothing.tolerance == 0)
    require_converging(run.comm, smoothing.maps.front(), *job.header.grid, lmax,
                       analysis.residuals);
  if (!analysis.residuals.empty()) {
    const std::string line = fmt::format("{} iterations, relative residual {:.3e}",
                                         analysis.iterations, analysis.residuals.back());
    job.maps.is_single() ? run.say(line)
                         : run.detail(fmt::format("{}...: {}", smoothing.maps.front(), line));
  }
  // Clang 14 loses the old value where a template assigns a list without its type.
  run.report["analysis"] = nlohmann::ordered_json{{"iterations", analysis.iterations},
                                                  {"residuals", analysis.residuals}};
  group.provenance.lmax = lmax;
  group.provenance.iterations = analysis.iterations;
  return report;
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
