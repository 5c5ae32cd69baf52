// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sky_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/sky_mask.hpp"
#include "base/checked_cast.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/smoothing.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Reads a map into new memory. Collective.
template <class T>
MapBuffer<T> read_sky(Run& run, const SkyAnalysis& job, const Sky& sky) {
  const LocalRings& rings = job.transform->rings();
  run.progress.stage("reading " + sky.path);
  auto map = agreed(
      run.comm, [&] { return MapBuffer<T>(sky.choice.fields.n_components(), rings.n_pixels()); });
  FileTraffic traffic{run.comm};
  read_map<T>(traffic, sky.path, *sky.reader, sky.choice, rings, map.view());
  add_traffic(run, traffic);
  return map;
}

/// Reads a map and makes its a_lm. Collective.
template <class T>
Analysed<T> analysed(Run& run, const SkyAnalysis& job, const Sky& sky,
                     std::shared_ptr<const AnalysisWeights> weights, const SkyMask& mask) {
  const AnalysisOptions& options = job.options;
  MapBuffer<T> map = read_sky<T>(run, job, sky);
  const MaskOptions treatment{.unseen = unseen_policy(options.unseen),
                              .remove = remove_choice(options.remove),
                              .mask = mask.values};
  const std::vector<std::int64_t> n_unseen = with_path(sky.path, [&] {
    return MaskedMap(run.comm, job.transform->rings(), treatment, map.view()).unseen_pixels();
  });
  const std::string unseen = unseen_text(
      n_unseen, names_of_fields(sky.choice, sky.reader->header()), mask.values != nullptr);
  if (!unseen.empty()) run.print_line(unseen + " taken as zero");
  Analysed<T> found = transform_map<T>(run, job, sky.path, std::move(weights), map);
  note_what_remains(run, sky.path, job.transform->spec().lmax, found.report.residuals);
  return found;
}

}  // namespace

const std::string& Sky::unit() const {
  return reader->header().columns[to_size(std::int64_t{choice.columns.front()})].unit;
}

Sky sky_of(Run& run, const std::string& path, std::unique_ptr<MapReader> reader,
           const std::string& fields) {
  const MapHeader& header = reader->header();
  for (const std::string& warning : header.warnings) run.warn(path + ": " + warning);
  FieldChoice choice = choose_fields(path, header, fields);
  note_columns_left_out(run, path, header, choice);
  return {path, std::move(reader), std::move(choice)};
}

Sky open_sky(Run& run, const std::string& path, const std::string& variable,
             const std::string& fields) {
  run.outputs.keep(path);
  return sky_of(run, path, open_map(run.comm, path, variable), fields);
}

const char* given_analysis_option(const AnalysisOptions& options) {
  return options.n_iter.has_value()     ? "--iter"
         : options.tolerance > 0        ? "--tol"
         : options.weights != "none"    ? "--weights"
         : !options.mask.empty()        ? "--mask"
         : !options.apodise.empty()     ? "--apodise"
         : !options.mask_column.empty() ? "--mask-column"
         : options.remove != "none"     ? "--remove"
         : options.unseen != "restore"  ? "--unseen"
                                        : nullptr;
}

SkyAnalysis plan_analysis(Run& run, const AnalysisOptions& options,
                          const TransformOptions& transform, const std::vector<Sky>& skies) {
  const Sky& first = skies.front();
  const MapHeader& header = first.reader->header();
  if (first.choice.name == "QU" && options.remove != "none")
    throw UsageError("--remove fits T; with Q and U only use --remove none");
  const double tolerance = options.tolerance;
  const RingGrid& full = *header.grid;
  require_weights(first.path, full);
  check_mask(run, options, header);
  const int lmax = transform.lmax >= 0 ? transform.lmax : full.default_lmax();
  SkyAnalysis analysis;
  analysis.options = options;
  analysis.n_iter = tolerance > 0 ? 0 : options.n_iter.value_or(usual_iterations(full, lmax));
  const bool whole_sky =
      analysis.n_iter > 0 || tolerance > 0 || skies.size() > 1 || !options.mask.empty();
  const auto grid = grid_to_visit(*first.reader, whole_sky);
  TransformSpec spec = make_spec(transform, grid, first.choice.fields);
  warn_beyond_grid(run, first.path, full, lmax);
  choose_backend(run, transform, spec);
  const bool is_single = std::all_of(skies.begin(), skies.end(), [](const Sky& sky) {
    return sky.reader->header().precision == Precision::single_;
  });
  analysis.precision =
      storage_precision(transform.precision, is_single ? Precision::single_ : Precision::double_);
  require_memory_for(run.comm, spec, analysis.precision);
  analysis.weights = find_weights(run, options.weights, *grid);
  const Operation operation = tolerance > 0         ? Operation::analysis_conjugate
                              : analysis.n_iter > 0 ? Operation::analysis_iterating
                                                    : Operation::analysis_consuming;
  const PixelWeights held =
      analysis.weights.pixel.empty() ? PixelWeights::none : PixelWeights::held;
  analysis.use = {.operation = operation,
                  .precision = analysis.precision,
                  .pixel_weights = held,
                  .extra_buffers = mask_beside(options)};
  analysis.of_one = planned_analysis(analysis.n_iter, tolerance, held);
  analysis.transform = plan_transform(run, spec, analysis.use, transform.asked_backend());
  return analysis;
}

template <class T>
Analysed<T> transform_map(Run& run, const SkyAnalysis& job, const std::string& path,
                          std::shared_ptr<const AnalysisWeights> weights, MapBuffer<T>& map) {
  Analysis analysis(*job.transform, std::move(weights));
  run.progress.stage("analysis");
  const auto progress = [&](int pass, int passes, double residual) {
    run.progress.step(pass, passes, residual >= 0 ? fmt::format("residual {:.2e}", residual) : "");
  };
  const double tolerance = job.options.tolerance;
  if (tolerance == 0 && job.n_iter == 0)
    return {analysis.once<T>(std::move(map)), {.transforms = 1}};
  auto alm = agreed(run.comm, [&] { return job.transform->make_alm<T>(); });
  constexpr int most_passes = 100;
  AnalysisReport report =
      tolerance > 0 ? analysis.conjugate_gradients<T>(map.view(), tolerance, most_passes,
                                                      alm.view(), progress)
                    : analysis.jacobi_destroying<T>(map.view(), job.n_iter, alm.view(), progress);
  const TransformSpec& spec = job.transform->spec();
  if (tolerance == 0) require_converging(run.comm, path, *spec.grid, spec.lmax, report.residuals);
  // Clang 14 loses the old value where a template assigns a list without its type.
  run.report["analysis"] =
      nlohmann::ordered_json{{"iterations", report.iterations}, {"residuals", report.residuals}};
  run.print_line(fmt::format("{} iteration(s), relative residual {:.3e}", report.iterations,
                             report.residuals.back()));
  if (tolerance > 0 && report.residuals.back() > tolerance) {
    run.warn(fmt::format("the residual did not reach --tol {} within {} passes", tolerance,
                         most_passes));
  }
  return {std::move(alm), std::move(report)};
}

template Analysed<float> transform_map(Run&, const SkyAnalysis&, const std::string&,
                                       std::shared_ptr<const AnalysisWeights>, MapBuffer<float>&);
template Analysed<double> transform_map(Run&, const SkyAnalysis&, const std::string&,
                                        std::shared_ptr<const AnalysisWeights>, MapBuffer<double>&);

template <class T>
Analyses<T> analyse_all(Run& run, const SkyAnalysis& job, const std::vector<Sky>& skies) {
  const LocalRings& rings = job.transform->rings();
  const auto weights =
      std::make_shared<const AnalysisWeights>(load_weights(run, job.weights, rings));
  const SkyMask mask = read_mask(run, job.options, rings);
  Analyses<T> all{{}, mask.fraction};
  TransformCount count;
  for (const Sky& sky : skies) {
    all.results.push_back(analysed<T>(run, job, sky, weights, mask));
    const AnalysisReport& report = all.results.back().report;
    count += {.all_fields = report.transforms, .all_fields_on_spectra = report.on_spectra};
  }
  job.transform->release_workspace();
  record_transform(run, *job.transform, count);
  return all;
}

template Analyses<float> analyse_all(Run&, const SkyAnalysis&, const std::vector<Sky>&);
template Analyses<double> analyse_all(Run&, const SkyAnalysis&, const std::vector<Sky>&);

void put_analysis(const SkyAnalysis& analysis, const SkyFraction& fraction, int iterations,
                  Provenance& provenance) {
  provenance.quadrature = analysis.options.weights;
  provenance.removed = analysis.options.remove;
  provenance.iterations = iterations;
  put_mask(analysis.options, fraction, provenance);
}

}  // namespace ringweave::detail::inline app
