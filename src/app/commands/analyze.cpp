// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "app/transform_setup.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "io/spectra_table.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/transform.hpp"
#include "transform/map_preparation.hpp"

namespace ringweave::detail::inline app {
namespace {

struct Job {
  const AnalyzeOptions& options;
  MapReader& reader;
  FieldChoice choice;
  SphericalHarmonicTransform& transform;
  WeightFiles weights;
  int n_iter;
};

/// a_lm, and information on the analysis.
template <class T>
struct Analysed {
  AlmBuffer<T> alm;
  AnalysisReport report;
};

/// Reads the map into new memory. Collective.
template <class T>
MapBuffer<T> read_input(Run& run, Job& job) {
  const std::string& path = job.options.input;
  const LocalRings& rings = job.transform.rings();
  run.progress.stage("reading " + path);
  auto map = agreed(
      run.comm, [&] { return MapBuffer<T>(job.choice.fields.n_components(), rings.n_pixels()); });
  FileTraffic traffic{run.comm};
  read_map<T>(traffic, path, job.reader, job.choice, rings, map.view());
  add_traffic(run, traffic);
  return map;
}

template <class T>
Analysed<T> transform_map(Run& run, Job& job, AnalysisWeights weights, MapBuffer<T>& map) {
  Analysis analysis(job.transform, std::move(weights));
  run.progress.stage("analysis");
  const auto progress = [&](int pass, int passes, double residual) {
    run.progress.step(pass, passes, residual >= 0 ? fmt::format("residual {:.2e}", residual) : "");
  };
  const double tolerance = job.options.analysis.tolerance;
  if (tolerance == 0 && job.n_iter == 0)
    return {analysis.once<T>(std::move(map)), {.transforms = 1}};
  auto alm = agreed(run.comm, [&] { return job.transform.make_alm<T>(); });
  constexpr int most_passes = 100;
  AnalysisReport report =
      tolerance > 0 ? analysis.conjugate_gradients<T>(map.view(), tolerance, most_passes,
                                                      alm.view(), progress)
                    : analysis.jacobi_destroying<T>(map.view(), job.n_iter, alm.view(), progress);
  const TransformSpec& spec = job.transform.spec();
  if (tolerance == 0)
    require_converging(run.comm, job.options.input, *spec.grid, spec.lmax, report.residuals);
  run.report["analysis"] = {{"iterations", report.iterations}, {"residuals", report.residuals}};
  run.say(fmt::format("{} iterations, relative residual {:.3e}", report.iterations,
                      report.residuals.back()));
  if (tolerance > 0 && report.residuals.back() > tolerance) {
    run.warn(fmt::format("the residual did not reach --tol {} within {} passes", tolerance,
                         most_passes));
  }
  return {std::move(alm), std::move(report)};
}

template <class T>
void run_with(Run& run, Job& job) {
  const AnalyzeOptions& options = job.options;
  const LocalRings& rings = job.transform.rings();
  AnalysisWeights weights = load_weights(run, job.weights, rings);
  MapBuffer<T> map = read_input<T>(run, job);
  const UnseenMask mask = with_path(options.input, [&] {
    return mask_unseen<T>(run.comm, unseen_policy(options.analysis.unseen), map.view());
  });
  if (mask.total() > 0) run.say(fmt::format("{} UNSEEN pixels taken as zero", mask.total()));
  const auto removed =
      fit_low_multipoles<T>(run.comm, rings, MapView<const T>(map.view()).component(0), mask,
                            remove_choice(options.analysis.remove));
  add_low_multipoles<T>(rings, map.view().component(0), mask, removed, -1);

  const auto [alm, report] = transform_map<T>(run, job, std::move(weights), map);
  map.release();
  job.transform.release_workspace();
  record_transform(run, job.transform,
                   {.all_fields = report.transforms, .all_fields_on_spectra = report.on_spectra});

  const AlmLayout& layout = job.transform.alm_layout();
  Provenance provenance = run.provenance(options.input);
  provenance.origin = job.reader.header().origin;
  provenance.lmax = layout.lmax();
  provenance.iterations = report.iterations;
  provenance.quadrature = options.analysis.weights;
  provenance.removed = options.analysis.remove;
  const std::string unit =
      job.reader.header().columns[static_cast<std::size_t>(job.choice.columns[0])].unit;
  const StageTimer timer(&run.times, "write");
  if (!options.alm.empty()) {
    run.progress.stage("writing " + options.alm);
    const AlmHeader header{layout.lmax(),
                           layout.mmax(),
                           job.choice.components,
                           sizeof(T) == 4 ? Precision::single_ : Precision::double_,
                           unit,
                           {}};
    write_alm(run.outputs.begin(options.alm), header, provenance, layout,
              AlmView<const T>(alm.view()));
  }
  if (!options.cl.empty()) {
    run.progress.stage("writing " + options.cl);
    const Spectra spectra = power_spectra<T>(run.comm, layout, alm.view());
    write_spectra(run.outputs.begin(options.cl), provenance, spectra,
                  unit.empty() ? "" : unit + "^2");
  }
}

}  // namespace

int analyze(Run& run, const AnalyzeOptions& options) {
  if (options.alm.empty() && options.cl.empty()) {
    throw UsageError("nothing to write: give --alm FILE, --cl FILE or both");
  }
  run.outputs.announce(options.alm, OutputContent::alm);
  run.outputs.announce(options.cl, OutputContent::spectra);
  run.outputs.keep(options.input);
  const auto reader = open_map(run.comm, options.input);
  for (const std::string& warning : reader->header().warnings)
    run.warn(options.input + ": " + warning);
  const FieldChoice choice =
      choose_fields(options.input, reader->header(), options.transform.fields);
  const double tolerance = options.analysis.tolerance;
  note_columns_left_out(run, options.input, reader->header(), choice);
  const RingGrid& full = *reader->header().grid;
  const int lmax = options.transform.lmax >= 0 ? options.transform.lmax : full.default_lmax();
  const int usual_n_iter = is_exact(full, lmax) ? 0 : 3;
  const int n_iter = tolerance > 0 ? 0 : options.analysis.n_iter.value_or(usual_n_iter);
  const auto grid = grid_to_visit(*reader, n_iter > 0 || tolerance > 0);
  TransformSpec spec = make_spec(options.transform, grid, choice.fields);
  warn_beyond_grid(run, options.input, full, lmax);
  spec.backend = choose_backend(run, options.transform.backend);
  const Precision precision =
      storage_precision(options.transform.precision, reader->header().precision);
  require_memory_for(run, spec, precision);
  const WeightFiles weights = find_weights(run, options.analysis.weights, *grid);
  const Operation operation = tolerance > 0 ? Operation::analysis_conjugate
                              : n_iter > 0  ? Operation::analysis_iterating
                                            : Operation::analysis_consuming;
  const PixelWeights held = weights.pixel.empty() ? PixelWeights::none : PixelWeights::held;
  const MemoryUse use{operation, precision, held};
  const auto transform = plan_transform(run, spec, use, options.transform.backend);
  const MemoryEstimate estimate = estimate_memory(*transform, use);
  record_plan(run, *transform, estimate, planned_analysis(n_iter, tolerance, held));
  const auto components = static_cast<double>(spec.fields.n_components());
  record_files(
      run, {.n_read = 1,
            .read_bytes = components * static_cast<double>(grid->n_pixels() * bytes_of(precision)),
            .n_written = options.alm.empty() ? 0 : 1,
            .written_bytes =
                2 * components *
                static_cast<double>(AlmLayout(spec.lmax, spec.mmax).size() * bytes_of(precision))});
  run.outputs.require_writable();
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;

  Job job{options, *reader, choice, *transform, weights, n_iter};
  with_storage(precision, [&](auto storage) { run_with<decltype(storage)>(run, job); });
  run.conclusion = fmt::format("{}: {} analysed to lmax {}", options.input, choice.name, spec.lmax);
  return 0;
}

}  // namespace ringweave::detail::inline app
